//! Whatever bytes come, what is read of them is written and read as the same.
#![no_main]

use backlane_routing::aodv::message::Message;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Some(message) = Message::decode(bytes) {
        assert_eq!(Message::decode(&message.encode()), Some(message));
    }
});

//! The simulator as a WebAssembly module of five exports, without wasm-bindgen.
//!
//! A page writes a request as UTF-8 to `take(length)`, calls `ask()`, and reads as many bytes of an
//! answer as that returns, at `at()`; `free()` gives the memory back. The module imports two
//! functions, `page.progress` and `page.panicked`. After a panic the instance is of no further use.
//!
//! The requests are those of [`backlane_web::answer`].

use std::cell::RefCell;

use backlane_web::Page;

#[link(wasm_import_module = "page")]
unsafe extern "C" {
    /// Simulated seconds, the duration, events; 0 ends the run.
    safe fn progress(now_s: f64, duration_s: f64, events: f64) -> i32;
    /// The text of a panic.
    safe fn panicked(text: *const u8, length: usize);
}

thread_local! {
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

struct Tab;

impl Page for Tab {
    fn progress(&mut self, now_s: f64, duration_s: f64, events: u64) -> bool {
        progress(now_s, duration_s, events as f64) != 0
    }
}

/// The place of `length` bytes for a request.
#[unsafe(no_mangle)]
pub extern "C" fn take(length: usize) -> *mut u8 {
    BUFFER.with_borrow_mut(|buffer| {
        *buffer = vec![0; length];
        buffer.as_mut_ptr()
    })
}

/// Answers the request; the length of the answer in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn ask() -> usize {
    std::panic::set_hook(Box::new(|panic| {
        let text = panic.to_string();
        panicked(text.as_ptr(), text.len());
    }));
    let request = BUFFER.with_borrow_mut(std::mem::take);
    let answer = backlane_web::answer(&String::from_utf8_lossy(&request), &mut Tab);
    BUFFER.with_borrow_mut(|buffer| {
        *buffer = answer.into_bytes();
        buffer.len()
    })
}

/// The place of the answer.
#[unsafe(no_mangle)]
pub extern "C" fn at() -> *const u8 {
    BUFFER.with_borrow(|buffer| buffer.as_ptr())
}

/// Frees the answer.
#[unsafe(no_mangle)]
pub extern "C" fn free() {
    BUFFER.with_borrow_mut(|buffer| *buffer = Vec::new());
}

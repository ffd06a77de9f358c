//! The network device of a kernel, by the vhost-user protocol as User Mode Linux speaks it.
//!
//! The kernel connects to a stream socket (`virtio_uml.device=SOCKET:1`) and gives the file of its
//! memory and the addresses of its two queues. Messages take the place of event descriptors in both
//! directions (`INBAND_NOTIFICATIONS`), so that everything happens in one order. No checksum and no
//! segmentation is offered: the kernel computes its checksums, and a packet is a packet.
//!
//! Source: the vhost-user protocol (QEMU, `docs/interop/vhost-user.rst`), and Linux 6.1,
//! `arch/um/drivers/virtio_uml.c` and `vhost_user.h`.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};

use crate::memory::Memory;
use crate::ring::Ring;

/// The queue by which the kernel receives.
pub const RECEIVE: usize = 0;
/// The queue by which it sends.
pub const TRANSMIT: usize = 1;

/// The header before each frame (virtio 1.1, §5.1.6).
const VIRTIO_HEADER_BYTES: usize = 12;
/// What it says of a received frame: it lies in one buffer.
const VIRTIO_HEADER: [u8; VIRTIO_HEADER_BYTES] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0];
const ETHERNET_BYTES: usize = 14;
const IPV4: [u8; 2] = [0x08, 0x00];

/// `VHOST_USER_F_PROTOCOL_FEATURES`, `VIRTIO_F_VERSION_1` and `VIRTIO_NET_F_MAC`.
const FEATURES: u64 = 1 << 30 | 1 << 32 | 1 << 5;
/// `REPLY_ACK`, `SLAVE_REQ`, `CONFIG` and `INBAND_NOTIFICATIONS`.
const PROTOCOL_FEATURES: u64 = 1 << 3 | 1 << 5 | 1 << 9 | 1 << 14;
const VERSION: u32 = 1;
const IS_REPLY: u32 = 4;
const NEEDS_REPLY: u32 = 8;
/// The longest message.
const MESSAGE_BYTES: usize = 4096;
/// Frames that wait for a buffer of the kernel; more are lost, as in a network card.
const WAITING_FRAMES: usize = 4096;

/// Requests of the front end, `VHOST_USER_*`.
mod request {
    pub(super) const GET_FEATURES: u32 = 1;
    pub(super) const SET_MEM_TABLE: u32 = 5;
    pub(super) const SET_VRING_NUM: u32 = 8;
    pub(super) const SET_VRING_ADDR: u32 = 9;
    pub(super) const SET_VRING_BASE: u32 = 10;
    pub(super) const GET_PROTOCOL_FEATURES: u32 = 15;
    pub(super) const SET_SLAVE_REQ_FD: u32 = 21;
    pub(super) const GET_CONFIG: u32 = 24;
    pub(super) const VRING_KICK: u32 = 35;
}
/// The request of the back end that stands for an interrupt.
const VRING_CALL: u32 = 4;

/// What a message asks for beside its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Nothing; it was answered.
    Nothing,
    /// The kernel has something to send. It waits for [`Device::answer`].
    ToSend(Unanswered),
    /// The kernel has given new buffers to receive into. It waits for [`Device::answer`].
    ToReceive(Unanswered),
}

/// A message without its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unanswered {
    request: u32,
    is_due: bool,
}

/// The back end of a kernel's only network device.
#[derive(Debug)]
pub struct Device {
    socket: UnixStream,
    /// The channel for requests of this side.
    requests: Option<UnixStream>,
    memory: Memory,
    rings: [Ring; 2],
    mac: [u8; 6],
    waiting: VecDeque<Vec<u8>>,
    /// Interrupts that the kernel has not acknowledged.
    interrupts: u32,
}

fn number(payload: &[u8], at: usize) -> io::Result<u32> {
    let bytes = payload
        .get(at..at + 4)
        .and_then(|bytes| bytes.try_into().ok());
    bytes
        .map(u32::from_ne_bytes)
        .ok_or_else(|| io::ErrorKind::InvalidData.into())
}

fn long_number(payload: &[u8], at: usize) -> io::Result<u64> {
    let bytes = payload
        .get(at..at + 8)
        .and_then(|bytes| bytes.try_into().ok());
    bytes
        .map(u64::from_ne_bytes)
        .ok_or_else(|| io::ErrorKind::InvalidData.into())
}

impl Device {
    /// A device with this address on a connection of the kernel.
    pub fn new(socket: UnixStream, mac: [u8; 6]) -> Self {
        Self {
            socket,
            requests: None,
            memory: Memory::default(),
            rings: [Ring::default(); 2],
            mac,
            waiting: VecDeque::new(),
            interrupts: 0,
        }
    }

    /// The channel by which the kernel acknowledges interrupts, while it has to.
    pub fn acknowledgments(&self) -> Option<BorrowedFd<'_>> {
        let requests = self.requests.as_ref().filter(|_| self.interrupts > 0);
        requests.map(AsFd::as_fd)
    }

    /// Whether the kernel has acknowledged all interrupts.
    pub fn is_acknowledged(&self) -> bool {
        self.interrupts == 0
    }

    /// Takes a message of the kernel, and answers it unless something is asked for.
    ///
    /// # Errors
    /// The kernel is gone, or the message makes no sense.
    pub fn take(&mut self) -> io::Result<Asked> {
        let (header, files) = self.header()?;
        let (request, flags) = (number(&header, 0)?, number(&header, 4)?);
        let size = number(&header, 8)? as usize;
        if size > MESSAGE_BYTES {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut payload = vec![0; size];
        self.socket.read_exact(&mut payload)?;
        let unanswered = Unanswered {
            request,
            is_due: flags & NEEDS_REPLY != 0,
        };
        match request {
            request::GET_FEATURES => {
                self.reply(request, &FEATURES.to_ne_bytes())?;
                return Ok(Asked::Nothing);
            }
            request::GET_PROTOCOL_FEATURES => {
                self.reply(request, &PROTOCOL_FEATURES.to_ne_bytes())?;
                return Ok(Asked::Nothing);
            }
            request::GET_CONFIG => {
                let (offset, bytes) = (number(&payload, 0)?, number(&payload, 4)?);
                let mut config = [0; MESSAGE_BYTES];
                config[..6].copy_from_slice(&self.mac);
                let asked = offset as usize..(offset.saturating_add(bytes)) as usize;
                let config = config.get(asked).ok_or(io::ErrorKind::InvalidData)?;
                let mut reply = payload.get(..12).unwrap_or_default().to_vec();
                reply.extend_from_slice(config);
                self.reply(request, &reply)?;
                return Ok(Asked::Nothing);
            }
            request::SET_MEM_TABLE => self.map(&payload, files)?,
            request::SET_VRING_NUM => self.ring(&payload)?.size = number(&payload, 4)? as u16,
            request::SET_VRING_BASE => self.ring(&payload)?.taken = number(&payload, 4)? as u16,
            request::SET_VRING_ADDR => {
                let ring = self.ring(&payload)?;
                ring.descriptors = long_number(&payload, 8)?;
                ring.used = long_number(&payload, 16)?;
                ring.available = long_number(&payload, 24)?;
            }
            request::SET_SLAVE_REQ_FD => {
                self.requests = files.into_iter().next().map(UnixStream::from);
            }
            request::VRING_KICK => {
                return Ok(match number(&payload, 0)? as usize {
                    TRANSMIT => Asked::ToSend(unanswered),
                    _ => Asked::ToReceive(unanswered),
                });
            }
            _ => {}
        }
        self.answer(unanswered)?;
        Ok(Asked::Nothing)
    }

    /// The header of a message, and the descriptors beside it.
    fn header(&mut self) -> io::Result<([u8; 12], Vec<OwnedFd>)> {
        let mut header = [0; 12];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(8))];
        let mut beside = RecvAncillaryBuffer::new(&mut space);
        let mut slices = [IoSliceMut::new(&mut header)];
        let flags = RecvFlags::CMSG_CLOEXEC;
        let bytes = recvmsg(&self.socket, &mut slices, &mut beside, flags)?.bytes;
        let files = beside.drain().filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(files) => Some(files),
            _ => None,
        });
        let files = files.flatten().collect();
        match bytes {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            bytes => {
                self.socket.read_exact(&mut header[bytes..])?;
                Ok((header, files))
            }
        }
    }

    fn ring(&mut self, payload: &[u8]) -> io::Result<&mut Ring> {
        let ring = self.rings.get_mut(number(payload, 0)? as usize);
        ring.ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    fn map(&mut self, payload: &[u8], files: Vec<OwnedFd>) -> io::Result<()> {
        self.memory.clear();
        for (index, file) in files.into_iter().enumerate() {
            let at = 8 + 32 * index;
            let (address, bytes) = (long_number(payload, at)?, long_number(payload, at + 8)?);
            let offset = long_number(payload, at + 24)?;
            self.memory.add(address, bytes, File::from(file), offset);
        }
        Ok(())
    }

    fn reply(&mut self, request: u32, payload: &[u8]) -> io::Result<()> {
        let mut message = Vec::with_capacity(12 + payload.len());
        for number in [request, VERSION | IS_REPLY, payload.len() as u32] {
            message.extend_from_slice(&number.to_ne_bytes());
        }
        message.extend_from_slice(payload);
        self.socket.write_all(&message)
    }

    /// Answers a message that was acted upon.
    ///
    /// # Errors
    /// The kernel is gone.
    pub fn answer(&mut self, message: Unanswered) -> io::Result<()> {
        if message.is_due {
            self.reply(message.request, &0_u64.to_ne_bytes())?;
        }
        Ok(())
    }

    /// The IPv4 datagrams that the kernel sends, in order; other frames are dropped. Whether it wants
    /// an interrupt for them.
    ///
    /// # Errors
    /// The kernel's queue is wrong.
    pub fn sent(&mut self) -> io::Result<(Vec<Vec<u8>>, bool)> {
        let (memory, ring) = (&self.memory, &mut self.rings[TRANSMIT]);
        let mut datagrams = Vec::new();
        let mut interrupt = false;
        while let Some(head) = ring.take(memory)? {
            let mut frame = ring.read(memory, head)?;
            interrupt |= ring.give_back(memory, head, 0)?;
            let headers = VIRTIO_HEADER_BYTES + ETHERNET_BYTES;
            if frame.len() > headers && frame[headers - 2..headers] == IPV4 {
                frame.drain(..headers);
                datagrams.push(frame);
            }
        }
        Ok((datagrams, interrupt))
    }

    /// Adds an IPv4 datagram that the kernel is to receive; [`Device::fill`] passes it on.
    pub fn offer(&mut self, datagram: &[u8]) {
        if self.waiting.len() >= WAITING_FRAMES {
            return;
        }
        let mut frame = Vec::with_capacity(VIRTIO_HEADER_BYTES + ETHERNET_BYTES + datagram.len());
        frame.extend_from_slice(&VIRTIO_HEADER);
        frame.extend_from_slice(&self.mac);
        // Where it comes from does not matter: there is no ARP.
        frame.extend_from_slice(&self.mac);
        frame.extend_from_slice(&IPV4);
        frame.extend_from_slice(datagram);
        self.waiting.push_back(frame);
    }

    /// Passes on what was offered, as far as the kernel has buffers; whether it wants an interrupt.
    ///
    /// # Errors
    /// The kernel's queue is wrong.
    pub fn fill(&mut self) -> io::Result<bool> {
        let (memory, ring) = (&self.memory, &mut self.rings[RECEIVE]);
        let mut interrupt = false;
        while !self.waiting.is_empty() {
            let Some(head) = ring.take(memory)? else {
                break;
            };
            if let Some(frame) = self.waiting.pop_front() {
                let bytes = ring.write(memory, head, &frame)?;
                interrupt |= ring.give_back(memory, head, bytes)?;
            }
        }
        Ok(interrupt)
    }

    /// Interrupts the kernel for a queue. It acknowledges by [`Device::acknowledgments`].
    ///
    /// # Errors
    /// The kernel is gone, or has not set up the channel.
    pub fn interrupt(&mut self, queue: usize) -> io::Result<()> {
        let mut message = [0; 20];
        let numbers = [VRING_CALL, VERSION | NEEDS_REPLY, 8, queue as u32];
        for (place, number) in message.chunks_exact_mut(4).zip(numbers) {
            place.copy_from_slice(&number.to_ne_bytes());
        }
        let requests = self.requests.as_mut().ok_or(io::ErrorKind::InvalidData)?;
        requests.write_all(&message)?;
        self.interrupts += 1;
        Ok(())
    }

    /// Takes the acknowledgment of an interrupt.
    ///
    /// # Errors
    /// The kernel is gone.
    pub fn take_acknowledgment(&mut self) -> io::Result<()> {
        let requests = self.requests.as_mut().ok_or(io::ErrorKind::InvalidData)?;
        requests.read_exact(&mut [0; 20])?;
        self.interrupts = self.interrupts.saturating_sub(1);
        Ok(())
    }
}

impl AsFd for Device {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::io::IoSlice;
    use std::os::fd::AsFd;

    use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

    use super::*;

    const DESCRIPTORS: u64 = 0x1000;
    const AVAILABLE: u64 = 0x2000;
    const USED: u64 = 0x3000;
    const BUFFER: u64 = 0x4000;
    const MAC: [u8; 6] = [2, 0, 0, 0, 0, 7];

    /// The front end, as a kernel speaks it.
    struct Front {
        socket: UnixStream,
        memory: File,
        interrupts: UnixStream,
    }

    impl Front {
        fn say(&self, request: u32, payload: &[u8], file: Option<&dyn AsFdOf>) {
            let mut message = Vec::new();
            for number in [request, VERSION | NEEDS_REPLY, payload.len() as u32] {
                message.extend(number.to_ne_bytes());
            }
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
            let mut beside = SendAncillaryBuffer::new(&mut space);
            let files: Vec<_> = file.iter().map(|file| file.descriptor()).collect();
            if !files.is_empty() {
                assert!(beside.push(SendAncillaryMessage::ScmRights(&files)));
            }
            let flags = SendFlags::empty();
            let head = IoSlice::new(&message);
            sendmsg(&self.socket, &[head], &mut beside, flags).unwrap();
            (&self.socket).write_all(payload).unwrap();
        }

        fn reply(&self) -> Vec<u8> {
            let mut header = [0; 12];
            (&self.socket).read_exact(&mut header).unwrap();
            assert_eq!(number(&header, 4).unwrap(), VERSION | IS_REPLY);
            let mut payload = vec![0; number(&header, 8).unwrap() as usize];
            (&self.socket).read_exact(&mut payload).unwrap();
            payload
        }

        fn write(&self, address: u64, bytes: &[u8]) {
            use std::os::unix::fs::FileExt;
            self.memory.write_all_at(bytes, address).unwrap();
        }

        fn read(&self, address: u64, bytes: usize) -> Vec<u8> {
            use std::os::unix::fs::FileExt;
            let mut found = vec![0; bytes];
            self.memory.read_exact_at(&mut found, address).unwrap();
            found
        }

        /// One buffer, as the only entry of the queue so far.
        fn offer(&self, bytes: u32) {
            let mut descriptor = BUFFER.to_le_bytes().to_vec();
            descriptor.extend(bytes.to_le_bytes());
            descriptor.extend([0; 4]);
            self.write(DESCRIPTORS, &descriptor);
            self.write(AVAILABLE, &[0, 0, 1, 0, 0, 0]);
        }
    }

    trait AsFdOf {
        fn descriptor(&self) -> BorrowedFd<'_>;
    }

    impl<T: AsFd> AsFdOf for T {
        fn descriptor(&self) -> BorrowedFd<'_> {
            self.as_fd()
        }
    }

    /// A device whose queue of this number is set up.
    fn connected(queue: usize) -> (Front, Device) {
        let (socket, ours) = UnixStream::pair().unwrap();
        let (interrupts, channel) = UnixStream::pair().unwrap();
        let memory = tempfile::tempfile().unwrap();
        memory.set_len(0x10_000).unwrap();
        let front = Front {
            socket,
            memory,
            interrupts,
        };
        let mut device = Device::new(ours, MAC);
        let numbers = |numbers: &[u64]| -> Vec<u8> {
            numbers
                .iter()
                .flat_map(|number| number.to_ne_bytes())
                .collect()
        };
        let small = |numbers: &[u32]| -> Vec<u8> {
            numbers
                .iter()
                .flat_map(|number| number.to_ne_bytes())
                .collect()
        };
        front.say(request::GET_FEATURES, &[], None);
        assert_eq!(device.take().unwrap(), Asked::Nothing);
        assert_eq!(front.reply(), FEATURES.to_ne_bytes());
        let mut table = small(&[1, 0]);
        table.extend(numbers(&[0, 0x10_000, 0, 0]));
        front.say(request::SET_MEM_TABLE, &table, Some(&front.memory));
        let number = queue as u32;
        front.say(request::SET_VRING_NUM, &small(&[number, 4]), None);
        front.say(request::SET_VRING_BASE, &small(&[number, 0]), None);
        let mut addresses = small(&[number, 0]);
        addresses.extend(numbers(&[DESCRIPTORS, USED, AVAILABLE, 0]));
        front.say(request::SET_VRING_ADDR, &addresses, None);
        front.say(request::SET_SLAVE_REQ_FD, &[], Some(&channel));
        for _ in 0..5 {
            assert_eq!(device.take().unwrap(), Asked::Nothing);
            assert_eq!(front.reply(), 0_u64.to_ne_bytes());
        }
        (front, device)
    }

    #[test]
    fn a_kick_of_the_sending_queue_yields_the_datagrams_without_their_headers() {
        let (front, mut device) = connected(TRANSMIT);
        let mut frame = vec![0; VIRTIO_HEADER_BYTES + 12];
        frame.extend(IPV4);
        frame.extend(b"a datagram");
        front.write(BUFFER, &frame);
        front.offer(frame.len() as u32);
        front.say(request::VRING_KICK, &[1, 0, 0, 0, 0, 0, 0, 0], None);
        let Asked::ToSend(message) = device.take().unwrap() else {
            panic!("the kick is of the sending queue");
        };
        let (datagrams, interrupt) = device.sent().unwrap();
        assert_eq!(datagrams, [b"a datagram"]);
        assert!(interrupt);
        device.answer(message).unwrap();
        assert_eq!(front.reply(), 0_u64.to_ne_bytes());
        assert_eq!(front.read(USED + 2, 2), [1, 0]);
    }

    #[test]
    fn a_datagram_for_the_kernel_waits_for_a_buffer_and_interrupts() {
        let (front, mut device) = connected(RECEIVE);
        device.offer(b"a datagram");
        assert!(!device.fill().unwrap(), "there is no buffer yet");
        front.offer(2000);
        assert!(device.fill().unwrap());
        let frame = front.read(BUFFER, 36);
        assert_eq!(frame[..12], VIRTIO_HEADER);
        assert_eq!(frame[12..18], MAC);
        assert_eq!(frame[24..26], IPV4);
        assert_eq!(&frame[26..], b"a datagram");
        assert_eq!(front.read(USED + 8, 4), 36_u32.to_le_bytes());
        device.interrupt(RECEIVE).unwrap();
        let mut call = [0; 20];
        (&front.interrupts).read_exact(&mut call).unwrap();
        assert_eq!(number(&call, 0).unwrap(), VRING_CALL);
        assert!(!device.is_acknowledged());
        (&front.interrupts).write_all(&[0; 20]).unwrap();
        device.take_acknowledgment().unwrap();
        assert!(device.is_acknowledged());
    }

    /// A message of 4 GiB, an unknown queue, memory that is not there.
    #[test]
    fn nonsense_is_an_error() {
        let (front, mut device) = connected(TRANSMIT);
        let mut header = Vec::new();
        for number in [request::SET_MEM_TABLE, VERSION, u32::MAX] {
            header.extend(number.to_ne_bytes());
        }
        (&front.socket).write_all(&header).unwrap();
        assert!(device.take().is_err());
        front.write(AVAILABLE, &[0, 0, 1, 0, 9, 0]);
        assert!(device.sent().is_err());
        drop(front);
        assert!(device.take().is_err());
    }
}

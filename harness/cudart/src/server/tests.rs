//! What a stranger on the client's side can ask for: each is refused, or harmless.

use std::borrow::Cow;

use emulator::Config;

use super::*;
use crate::protocol::geometry::{Grid, Shape};
use crate::protocol::launch::Launch;
use crate::protocol::segment::{self, HOST_WINDOW, Side};
use crate::protocol::{Piece, Wanted};

/// There is one window in an address space.
static SERIAL: Mutex<()> = Mutex::new(());

const KERNEL: &str = ".version 9.0\n.target sm_80\n.address_size 64\n
    .visible .entry store(.param .u64 to) { .reg .b64 %r; ld.param.u64 %r, [to]; st.global.u32 [%r], 7; ret; }";

struct Test {
    device: Device,
    segment: Segment,
    _serial: std::sync::MutexGuard<'static, ()>,
}

impl Test {
    fn new() -> Self {
        let serial = SERIAL.lock().unwrap_or_else(PoisonError::into_inner);
        let file = segment::create().expect("a file");
        let segment = Segment::map(file, Side::Device).expect("address space");
        let machine = Machine::new(Config { memory: 1 << 24, apart: true, ..Config::default() });
        let (device, registers) = (DeviceModel::default(), HashMap::new());
        let options = Options { device, registers, time: None, profile: false };
        Self { device: Device::new(machine, options), segment, _serial: serial }
    }

    fn frame(&mut self, frame: &[u8]) -> Vec<u8> {
        self.device.answer(frame, &self.segment)
    }

    fn ask<T: serde::de::DeserializeOwned>(&mut self, request: &Request<'_>) -> Result<T, Failure> {
        let frame = postcard::to_allocvec(request).expect("a frame");
        postcard::from_bytes::<Result<T, Failure>>(&self.frame(&frame)).expect("a reply")
    }

    fn is_refused(&mut self, request: &Request<'_>) -> bool {
        // Whatever is granted begins with a zero.
        let frame = postcard::to_allocvec(request).expect("a frame");
        self.frame(&frame).first() == Some(&1)
    }

    fn allocate(&mut self, wanted: Wanted, bytes: u64) -> Address {
        self.ask(&Request::Allocate { wanted, bytes }).expect("room")
    }

    /// Loads the kernel; its number.
    fn kernel(&mut self) -> u32 {
        let piece = Piece { start: 0, bytes: KERNEL.len() };
        let (to, _) = self.segment.staging(piece);
        // SAFETY: the staging area is that long.
        unsafe { to.copy_from_nonoverlapping(KERNEL.as_ptr(), KERNEL.len()) };
        self.ask::<()>(&Request::Text { piece }).expect("room");
        let module = self.ask(&Request::Load).expect("a module");
        let request = Request::Kernel { module, name: "store".to_owned() };
        self.ask::<Option<crate::protocol::KernelInfo>>(&request).expect("a reply").expect("one").id
    }

    fn launch(&mut self, launch: Launch) -> Result<crate::protocol::Launched, Failure> {
        self.ask(&Request::Launch(Cow::Owned(launch)))
    }
}

fn launch_of(kernel: u32, to: Address) -> Launch {
    Launch {
        kernel,
        grid: [1; 3],
        block: [1; 3],
        dynamic_shared: 0,
        cluster: None,
        cooperative: false,
        parameters: to.to_le_bytes().to_vec(),
    }
}

fn flat(start: Address, bytes: usize) -> (Grid, Shape) {
    (Grid { start, pitch: bytes, slice: bytes }, Shape { width: bytes, height: 1, depth: 1 })
}

#[test]
fn noise_is_no_request() {
    let mut test = Test::new();
    let mut state = 1u64;
    for _ in 0..20_000 {
        let mut frame = [0u8; 24];
        for byte in &mut frame {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            *byte = (state >> 33) as u8;
        }
        frame[0] %= 32;
        test.frame(&frame[..(state >> 40) as usize % 25]);
    }
    assert!(test.allocate(Wanted::Device, 16) > 0);
}

#[test]
fn the_device_keeps_its_own_memory() {
    let mut test = Test::new();
    let backing = test.allocate(Wanted::Backing, 1 << 20);
    let own = Box::new([0u8; 8192]);
    let pages = own.as_ptr() as u64 / 4096 * 4096;
    let stack = (&raw const pages) as u64 / 4096 * 4096;
    let code = flat as *const () as u64 / 4096 * 4096;
    let window = HOST_WINDOW + (1 << 30);
    for address in [pages, stack, code, window, 0, 4096, 1 << 47, u64::MAX - 4095] {
        let mirror = Request::Mirror { address, bytes: 4096, backing };
        assert!(test.is_refused(&mirror), "{address:#x}");
        assert!(test.is_refused(&Request::Register { address, bytes: 64 }), "{address:#x}");
        assert!(test.is_refused(&Request::Free { address }), "{address:#x}");
        assert!(test.is_refused(&Request::Begin { address }), "{address:#x}");
        assert!(test.is_refused(&Request::Unmirror { address }), "{address:#x}");
        let (grid, shape) = flat(address, 64);
        assert!(test.is_refused(&Request::Copy { to: grid, from: grid, shape }), "{address:#x}");
    }
    // Nobody is there.
    let (address, bytes) = (0x1234_5678_9000, 8192);
    assert!(test.is_refused(&Request::Mirror { address, bytes: 1 << 21, backing }));
    test.ask::<()>(&Request::Mirror { address, bytes, backing }).expect("free addresses");
    assert!(test.is_refused(&Request::Register { address, bytes: bytes + 1 }));
    test.ask::<()>(&Request::Register { address: address + 8, bytes: 100 }).expect("it is there");
    assert!(test.is_refused(&Request::Unmirror { address }), "kernels reach it");
    test.ask::<()>(&Request::Unregister { address: address + 8 }).expect("it is registered");
    test.ask::<()>(&Request::Unmirror { address }).expect("nobody reaches it");
}

#[test]
fn what_the_judge_lends_is_not_the_clients_to_free() {
    let mut test = Test::new();
    let lent = 0x2000_0100_0000;
    test.device.machine().memory().register(lent, 4096, "a", false);
    assert!(test.is_refused(&Request::Free { address: lent }));
    assert!(test.is_refused(&Request::Unregister { address: lent }));
    assert!(test.is_refused(&Request::Begin { address: lent }));
    assert!(test.device.machine().memory().find(lent).is_some());
}

#[test]
fn copies_end_where_memory_does() {
    let mut test = Test::new();
    let there = test.allocate(Wanted::Device, 4096);
    let piece = Piece { start: 0, bytes: usize::MAX };
    assert!(test.is_refused(&Request::More { piece }), "none is under way");
    for (width, height, pitch) in
        [(4097, 1, 4097), (1, 2, 4096), (usize::MAX, 1, 1), (2, usize::MAX, usize::MAX), (0, 1, 1)]
    {
        let to = Grid { start: there, pitch, slice: 0 };
        let shape = Shape { width, height, depth: 1 };
        assert!(test.is_refused(&Request::Upload { to, shape, piece }), "{width} x {height}");
        assert!(test.is_refused(&Request::Download { from: to, shape, piece }));
    }
    let (to, shape) = flat(there, 4096);
    let piece = Piece { start: usize::MAX, bytes: usize::MAX };
    test.ask::<()>(&Request::Upload { to, shape, piece }).expect("no byte of it");
    // Anything in between ends it.
    test.ask::<()>(&Request::Free { address: there }).expect("it is live");
    assert!(test.is_refused(&Request::More { piece: Piece { start: 0, bytes: 4096 } }));
}

#[test]
fn launches_are_held_to_the_hardware() {
    let mut test = Test::new();
    let to = test.allocate(Wanted::Device, 4);
    let id = test.kernel();
    let good = launch_of(id, to);
    assert!(test.launch(good.clone()).expect("a launch").broken.is_none());
    let wrong = [
        Launch { kernel: 99, ..good.clone() },
        Launch { grid: [0, 1, 1], ..good.clone() },
        Launch { block: [1024, 2, 1], ..good.clone() },
        Launch { dynamic_shared: u32::MAX, ..good.clone() },
        Launch { cluster: Some([17, 1, 1]), grid: [17, 1, 1], ..good.clone() },
        Launch { cluster: Some([2, 1, 1]), ..good.clone() },
        Launch { cooperative: true, grid: [u32::MAX >> 1, 1, 1], ..good.clone() },
        Launch { parameters: Vec::new(), ..good.clone() },
        Launch { parameters: vec![0; 5000], ..good.clone() },
    ];
    for launch in wrong {
        assert!(test.launch(launch.clone()).is_err(), "{launch:?}");
    }
    assert_eq!(test.device.report().launches.len(), 1);
    let broken = test.launch(launch_of(id, to + 4)).expect("a launch").broken;
    assert_eq!(broken.expect("a fault").code, Code::ILLEGAL_ADDRESS);
    assert!(test.is_refused(&Request::Room), "for good");
    assert!(test.device.report().fault.is_some());
}

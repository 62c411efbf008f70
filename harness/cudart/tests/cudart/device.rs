//! The device of a test: this executable run again, as which it is one test that never ends.

use std::io::{BufRead, BufReader, Write};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use cudart::DeviceModel;
use cudart::connection::Connection;
use cudart::protocol::segment::{self, Segment, Side};
use cudart::server::{self, Device, DeviceReport, LaunchRecord, Options, TimeModel};
use emulator::{Config, Fault, Machine};

/// Names the descriptor of the segment, in the environment of a device.
const SEGMENT: &str = "CUDART_TEST_SEGMENT";

/// What device and client have to say.
#[derive(Debug, Default, PartialEq)]
pub struct Report {
    pub launches: Vec<LaunchRecord>,
    pub fault: Option<Fault>,
    pub unsupported: Vec<String>,
    pub errors: Vec<String>,
}

pub struct TestDevice {
    process: Child,
    owner: UnixStream,
    segment: OwnedFd,
}

impl TestDevice {
    pub fn spawn() -> Self {
        let segment = segment::create().expect("a segment");
        // Without the flag that closes it in the new process.
        let inherited = rustix::io::dup(&segment).expect("a descriptor");
        let (owner, theirs) = UnixStream::pair().expect("a socket");
        let process = Command::new(std::env::current_exe().expect("this executable"))
            .args(["--exact", "device::is_the_device_of_other_tests", "--nocapture"])
            .env(SEGMENT, inherited.as_raw_fd().to_string())
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::null())
            .spawn()
            .expect("a process");
        Self { process, owner, segment }
    }

    pub fn connect(&self) -> Connection {
        let file = self.segment.try_clone().expect("a descriptor");
        let segment = Segment::map(file, Side::Client).expect("address space");
        let lifeline = self.owner.as_fd().try_clone_to_owned().expect("a descriptor");
        Connection::open(segment, Some(lifeline)).expect("an answer")
    }

    pub fn report(&self) -> DeviceReport {
        (&self.owner).write_all(b"\n").expect("a device that listens");
        let mut line = String::new();
        BufReader::new(&self.owner).read_line(&mut line).expect("a device that answers");
        serde_json::from_str(&line).expect("a report")
    }

    /// Ends it in the middle of whatever it does.
    pub fn kill(&mut self) {
        self.process.kill().expect("a process to kill");
        self.process.wait().expect("a process to wait for");
    }
}

impl Drop for TestDevice {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn is_the_device_of_other_tests() {
    let Ok(descriptor) = std::env::var(SEGMENT) else { return };
    let descriptor = descriptor.parse().expect("a number");
    // SAFETY: inherited for this.
    let file = unsafe { OwnedFd::from_raw_fd(descriptor) };
    let segment = Segment::map(file, Side::Device).expect("address space");
    let machine = Machine::new(Config {
        capability: (8, 0),
        sms: 108,
        memory: 1 << 26,
        apart: true,
        ..Config::default()
    });
    let model = DeviceModel {
        name: "emulated".to_owned(),
        clock_khz: 1_410_000,
        memory_clock_khz: 1_215_000,
        memory_bus_bits: 5120,
        l2_bytes: 40 << 20,
    };
    let registers = [("scale".to_owned(), 64)].into();
    let time: TimeModel = Box::new(|launch| 1000.0 * f64::from(launch.grid[0]));
    let options = Options { device: model, registers, time: Some(time), profile: false };
    let device = Arc::new(Mutex::new(Device::new(machine, options)));
    let served = Arc::clone(&device);
    std::thread::spawn(move || server::serve(&segment, &served));
    let owner = std::io::stdin().as_fd().try_clone_to_owned().expect("a descriptor");
    let owner = UnixStream::from(owner);
    for line in BufReader::new(&owner).lines() {
        line.expect("a line");
        let report = device.lock().expect("no panic").report();
        let text = serde_json::to_string(&report).expect("JSON");
        (&owner).write_all(format!("{text}\n").as_bytes()).expect("an owner that listens");
    }
}

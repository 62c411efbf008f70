//! The state of a card while it is timed: read, never changed.

use nvml_wrapper::bitmasks::device::ThrottleReasons;
use nvml_wrapper::enum_wrappers::device::{Clock, TemperatureSensor};
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::{Device, Nvml};
use serde::{Deserialize, Serialize};

/// What NVIDIA's management library says at one moment. What it does not say of a card is absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// "580.159.04"
    pub driver: Option<String>,
    pub sm_clock_mhz: Option<u32>,
    pub memory_clock_mhz: Option<u32>,
    pub temperature_c: Option<u32>,
    pub power_w: Option<u32>,
    /// Why the clock is lower than it could be; being idle is no reason here.
    pub throttled: Vec<String>,
}

/// The library's names, the second for systems without development files.
const LIBRARIES: [&str; 2] = ["libnvidia-ml.so.1", "libnvidia-ml.so"];

impl State {
    /// The state of the card of this UUID; `None` where the library is not there.
    pub fn read(uuid: &str) -> Option<Self> {
        let library = LIBRARIES
            .iter()
            .find_map(|name| Nvml::builder().lib_path(name.as_ref()).init().ok())?;
        let device = library.device_by_uuid(uuid).ok()?;
        let reasons = device.current_throttle_reasons();
        Some(Self {
            driver: library.sys_driver_version().ok(),
            sm_clock_mhz: device.clock_info(Clock::SM).ok(),
            memory_clock_mhz: device.clock_info(Clock::Memory).ok(),
            temperature_c: device.temperature(TemperatureSensor::Gpu).ok(),
            power_w: watts(&device).ok(),
            throttled: reasons.map(names).unwrap_or_default(),
        })
    }
}

fn watts(device: &Device<'_>) -> Result<u32, NvmlError> {
    Ok(device.power_usage()?.div_ceil(1000))
}

fn names(reasons: ThrottleReasons) -> Vec<String> {
    [
        (ThrottleReasons::APPLICATIONS_CLOCKS_SETTING, "application clocks"),
        (ThrottleReasons::SW_POWER_CAP, "power cap"),
        (ThrottleReasons::HW_SLOWDOWN, "hardware slowdown"),
        (ThrottleReasons::SYNC_BOOST, "sync boost"),
        (ThrottleReasons::SW_THERMAL_SLOWDOWN, "temperature"),
        (ThrottleReasons::HW_THERMAL_SLOWDOWN, "temperature, by hardware"),
        (ThrottleReasons::HW_POWER_BRAKE_SLOWDOWN, "power brake"),
    ]
    .into_iter()
    .filter(|(reason, _)| reasons.contains(*reason))
    .map(|(_, name)| name.to_owned())
    .collect()
}

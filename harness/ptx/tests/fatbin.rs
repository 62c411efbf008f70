//! The container reader against what nvcc 13.0.88 embedded.
//!
//! Fixtures: section `.nv_fatbin` of `nvcc -O3 -std=c++17 -shared -cudart none quantize.cu` with
//! `--compress-mode` none (stored), speed (lz4) and balance (zstd) for compute_100a; `several` has
//! `-gencode arch=compute_80,code=compute_80 -gencode arch=compute_100a,code=[sm_100a,compute_100a]`;
//! `machine_code` has `code=sm_100a`.

use proptest::prelude::*;
use ptx::fatbin::{self, FatbinError, PtxImage};

const STORED: &[u8] = include_bytes!("fixtures/fatbin/stored.bin");
const LZ4: &[u8] = include_bytes!("fixtures/fatbin/lz4.bin");
const ZSTD: &[u8] = include_bytes!("fixtures/fatbin/zstd.bin");
const SEVERAL: &[u8] = include_bytes!("fixtures/fatbin/several.bin");
const MACHINE_CODE: &[u8] = include_bytes!("fixtures/fatbin/machine_code.bin");

#[test]
fn every_compression_holds_the_same_text() {
    let stored = fatbin::read(STORED).unwrap();
    assert_eq!(fatbin::read(LZ4).unwrap(), stored);
    assert_eq!(fatbin::read(ZSTD).unwrap(), stored);
    let [image] = &stored[..] else { panic!() };
    assert_eq!((image.capability, image.suffix), ((10, 0), Some('a')));
    // Stored, the text stands in the file as it is.
    assert!(STORED.windows(image.text.len()).any(|window| window == image.text.as_bytes()));
    let module = ptx::parse(&image.text).unwrap();
    assert_eq!((module.target, module.functions[0].name), ("sm_100a", "quantize"));
}

#[test]
fn the_fitting_text_is_selected() {
    let images = fatbin::read(SEVERAL).unwrap();
    let target = |image: &PtxImage| ptx::parse(&image.text).unwrap().target.to_owned();
    assert_eq!(images.iter().map(target).collect::<Vec<_>>(), ["sm_80", "sm_100a"]);
    let selected = |capability| target(fatbin::select(&images, capability).unwrap());
    assert_eq!(selected((8, 0)), "sm_80");
    assert_eq!(selected((10, 0)), "sm_100a");
    // `sm_100a` runs on nothing else, so sm_120 takes the older one; sm_75 has no choice.
    assert_eq!(selected((12, 0)), "sm_80");
    assert_eq!(selected((7, 5)), "sm_80");
    assert_eq!(fatbin::select(&[], (8, 0)), None);
}

#[test]
fn machine_code_alone_is_refused_with_the_remedy() {
    let error = fatbin::read(MACHINE_CODE).unwrap_err();
    assert_eq!(error, FatbinError::MachineCodeOnly);
    assert!(error.to_string().contains("-gencode arch=compute_X,code=compute_X"));
}

#[test]
fn the_wrapper_leads_to_the_container() {
    #[repr(C)]
    struct Wrapper {
        magic: u32,
        version: u32,
        data: *const u8,
        filename: *const u8,
    }
    let mut wrapper =
        Wrapper { magic: 0x4662_43b1, version: 1, data: ZSTD.as_ptr(), filename: std::ptr::null() };
    // SAFETY: `wrapper` is one, and its container is as long as its header says.
    let container = unsafe { fatbin::container_of((&raw const wrapper).cast()) };
    assert_eq!(container, Ok(ZSTD));
    wrapper.magic = 0;
    // SAFETY: without the magic number nothing behind the wrapper is read.
    let container = unsafe { fatbin::container_of((&raw const wrapper).cast()) };
    assert_eq!(container, Err(FatbinError::Magic));
    // SAFETY: null is allowed.
    assert_eq!(unsafe { fatbin::container_of(std::ptr::null()) }, Err(FatbinError::Magic));
}

#[test]
fn every_truncation_is_an_error() {
    for container in [STORED, LZ4, ZSTD, SEVERAL] {
        for length in 0..container.len() {
            let error = fatbin::read(&container[..length]).unwrap_err();
            assert!(matches!(error, FatbinError::Magic | FatbinError::Truncated(_)), "{error}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    #[test]
    fn damage_is_an_error_or_a_text(
        container in proptest::sample::select(vec![STORED, LZ4, ZSTD, SEVERAL]),
        damage in proptest::collection::vec((any::<usize>(), any::<u8>()), 1..8),
        header_only in any::<bool>(),
    ) {
        let mut bytes = container.to_vec();
        let reach = if header_only { 0x60 } else { bytes.len() };
        for (at, value) in damage {
            bytes[at % reach] = value;
        }
        let _ = fatbin::read(&bytes);
    }

    #[test]
    fn junk_behind_the_magic_is_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut container = 0xba55_ed50u32.to_le_bytes().to_vec();
        container.extend(bytes);
        prop_assert!(fatbin::read(&container).is_err());
    }
}

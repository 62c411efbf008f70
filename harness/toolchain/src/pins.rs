//! Which wheels make the managed compiler, and their hashes.
//!
//! Pinned to the byte: whoever stands between this machine and the package index cannot put another
//! compiler in place. 13.0 because it is the newest whose machine code drivers of the 580 series
//! run. The wheels are NVIDIA's own, as published on the Python package index.

/// The toolkit's version; part of the folder's name, so that a new pin never meets an old copy.
pub const VERSION: &str = "13.0.88";

/// Bytes that are downloaded, for the progress bar (x86_64; aarch64 differs by a few percent).
pub const DOWNLOAD_BYTES: u64 = 104_500_000;

/// Bytes of all of it unpacked.
pub const UNPACKED_BYTES: u64 = 283_000_000;

/// One wheel and its SHA-256 for each machine that has one.
pub struct Wheel {
    pub name: &'static str,
    pub version: &'static str,
    pub x86_64: &'static str,
    pub aarch64: &'static str,
}

pub const WHEELS: [Wheel; 5] = [
    Wheel {
        name: "nvidia-cuda-nvcc",
        version: VERSION,
        x86_64: "56fe502eb77625a12f25172caa3cdddb4e4c8ba2c8c17dba44b164761b380f03",
        aarch64: "c7ff28f86a24effdc6c034fa15230c549a273e4771b10a7fec14996f8cf3307f",
    },
    Wheel {
        name: "nvidia-nvvm",
        version: "13.0.88",
        x86_64: "c5f41ffeb6466944a026dfa5317d7d85355c119bbec279205d22f1869d1054e0",
        aarch64: "c4376a291d72d22a315d9d2f69bdae8f8cd83a627f75bad395cee49a0fe65dc1",
    },
    Wheel {
        name: "nvidia-cuda-crt",
        version: "13.0.88",
        x86_64: "2c8043c7c9e02492716426e9919fc78d2c5b3b2a7a768a88e952676b08aa55a4",
        aarch64: "ee2ea2a97073e02ee62bb27841f437332be2c248e3eac013df07997ada39c003",
    },
    Wheel {
        name: "nvidia-cuda-runtime",
        version: "13.0.96",
        x86_64: "7f82250d7782aa23b6cfe765ecc7db554bd3c2870c43f3d1821f1d18aebf0548",
        aarch64: "ef9bcbe90493a2b9d810e43d249adb3d02e98dd30200d86607d8d02687c43f55",
    },
    Wheel {
        name: "nvidia-cuda-cccl",
        version: "13.0.85",
        x86_64: "e0da7ad981f3a8aff08241b5bfc1af868742a63e2762f53a5171c492ef242649",
        aarch64: "6f0203e29fed809ee2b7fe9b1344df66ecab990c37d6a2e0e189b26d6c97ed7c",
    },
];

/// The wheels as pip's requirements file. Both machines' hashes stand in it: pip takes the wheel
/// that fits and demands that its hash is one of these.
pub fn requirements() -> String {
    WHEELS
        .iter()
        .map(|Wheel { name, version, x86_64, aarch64 }| {
            format!("{name}=={version} --hash=sha256:{x86_64} --hash=sha256:{aarch64}\n")
        })
        .collect()
}

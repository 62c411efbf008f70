//! Where a solution runs, and what it is compiled for.

use crate::card::Card;
use crate::device::{Scrutiny, Target};
use crate::report::{DeviceInfo, DeviceKind};
use ptx::KernelFacts;
use timing::gpus::{self, Gpu};
use toolchain::compile;
use toolchain::directive::Directives;

use crate::{Config, DeviceChoice, Error};

/// One device of this machine, and the architecture to compile for.
pub enum Place {
    Emulator { gpu: &'static Gpu, arch: String, scrutiny: Scrutiny },
    Cuda { card: Box<Card>, gpu: Box<Gpu>, arch: String },
}

impl Place {
    /// Where the configuration says. What the user should know of an automatic choice goes to
    /// `warn`.
    ///
    /// # Errors
    ///
    /// [`Error::Machine`] where there is no such GPU, or it cannot run what the solution asks for;
    /// [`Error::Usage`] for an architecture that nothing is known of.
    pub fn find(
        config: &Config,
        directives: &Directives,
        fallback: &str,
        warn: &mut dyn FnMut(String),
    ) -> Result<Self, Error> {
        let wanted = config.arch.as_ref().or(directives.arch.as_ref());
        let on = |card: Card| {
            let arch = wanted.cloned().unwrap_or_else(|| card.arch());
            Self::Cuda { gpu: Box::new(card.figures()), card: Box::new(card), arch }
        };
        let fits = |card: &Card| wanted.is_none_or(|arch| card.runs(arch));
        let unfit = |card: &Card| {
            let arch = wanted.map_or("", String::as_str);
            format!("this is for {arch}, and {} is {}", card.name, card.arch())
        };
        let scrutiny = config.scrutiny;
        match config.device {
            DeviceChoice::Cuda(_) if scrutiny.is_emulators() => {
                return Err(Error::Usage(
                    "the sanitizer and the random schedule are the emulator's: --device emulator"
                        .to_owned(),
                ));
            }
            DeviceChoice::Cuda(ordinal) => match Card::find(ordinal) {
                Ok(card) if fits(&card) => return Ok(on(card)),
                Ok(card) => {
                    return Err(Error::machine(
                        unfit(&card),
                        format!(
                            "run it on the emulator: --device emulator, or compile it for this GPU: --arch {}",
                            card.arch()
                        ),
                    ));
                }
                Err(why) => {
                    return Err(Error::machine(why, "run it on the emulator: --device emulator"));
                }
            },
            DeviceChoice::Auto if scrutiny.is_emulators() => {}
            DeviceChoice::Auto => match Card::find(0) {
                Ok(card) if fits(&card) => return Ok(on(card)),
                Ok(card) => warn(format!("{}: it runs on the emulator", unfit(&card))),
                Err(_) => {}
            },
            DeviceChoice::Emulator | DeviceChoice::Mock(_) => {}
        }
        let arch = wanted.cloned().unwrap_or_else(|| fallback.to_owned());
        Ok(Self::Emulator { gpu: gpu(&arch)?, arch, scrutiny })
    }

    pub fn arch(&self) -> &str {
        match self {
            Self::Emulator { arch, .. } | Self::Cuda { arch, .. } => arch,
        }
    }

    /// The figures to hold times against, and the GPU of this machine.
    pub fn known(self) -> (Gpu, Option<Card>) {
        match self {
            Self::Emulator { gpu, .. } => (gpu.clone(), None),
            Self::Cuda { gpu, card, .. } => (*gpu, Some(*card)),
        }
    }

    pub fn info(&self) -> DeviceInfo {
        let (kind, name) = match self {
            Self::Emulator { gpu, .. } => {
                (DeviceKind::Emulator, format!("{} (modelled)", gpu.name))
            }
            Self::Cuda { card, .. } => (DeviceKind::Cuda, card.name.clone()),
        };
        DeviceInfo { kind, name, arch: self.arch().to_owned() }
    }

    /// What the compiled library is for.
    pub fn build(&self) -> compile::Target {
        match self {
            Self::Emulator { .. } => compile::Target::Emulator,
            Self::Cuda { .. } => compile::Target::Cuda,
        }
    }

    /// What the worker opens.
    pub fn target(&self, kernels: &[KernelFacts]) -> Target {
        match self {
            Self::Emulator { arch, scrutiny, .. } => {
                let (arch, kernels) = (arch.clone(), kernels.to_vec());
                Target::Emulator { arch, kernels, scrutiny: *scrutiny }
            }
            Self::Cuda { card, .. } => Target::Cuda { ordinal: card.ordinal },
        }
    }
}

/// The GPU of `gpus.toml` for an architecture.
///
/// # Errors
///
/// [`Error::Usage`], naming those there are.
pub fn gpu(arch: &str) -> Result<&'static Gpu, Error> {
    gpus::for_arch(arch).ok_or_else(|| {
        let known: Vec<_> = gpus::all().iter().map(|gpu| gpu.arch.as_str()).collect();
        Error::Usage(format!("nothing is known of a GPU for {arch}: use {}", known.join(", ")))
    })
}

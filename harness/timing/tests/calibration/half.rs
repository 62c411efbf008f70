//! Which problems are left out together.

/// Problems that share code are in the same half: a quantizer says much about another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    Quantizers,
    Others,
}

impl Half {
    /// `None` of what is no problem.
    pub fn of(family: &str) -> Option<Self> {
        match family {
            "mxfp4_quantize" | "nvfp4_quantize" | "nvfp4_quantize_amax" => Some(Self::Quantizers),
            "mxfp4_dequantize" | "nvfp4_dequantize" | "nvfp4_gemv" | "fp4_attention" => {
                Some(Self::Others)
            }
            _ => None,
        }
    }
}

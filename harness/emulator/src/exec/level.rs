//! Two compilations of every handler: one for any machine, one for AVX2 with FMA; and of the matrix
//! instructions, of loads from shared memory and of what else kernels mostly do a third, for AVX-512.
//!
//! The bodies are mostly the same generic code, inlined into functions that differ in their target
//! features only, so the results are the same bits: what differs is whether 32 lanes take 32
//! instructions or four. `f32::mul_add` is one rounding on all (a library call without FMA).
//! Measured on the microbenchmarks, AVX2 over none: 1.4 to 1.5 times for quantizers, 15 for a chain of
//! `fma.rn.f32`; AVX-512 over AVX2: 1.2 for quantizers, 1.6 for the chain.

use super::Handler;

/// Which compilation a program is lowered to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Plain,
    /// AVX2, FMA, F16C.
    Wide,
    /// AVX-512 as well, with its dot products of bytes.
    Widest,
}

impl Level {
    /// All that this machine runs, the best last.
    pub fn all() -> &'static [Self] {
        match Self::detect() {
            Self::Plain => &[Self::Plain],
            Self::Wide => &[Self::Plain, Self::Wide],
            Self::Widest => &[Self::Plain, Self::Wide, Self::Widest],
        }
    }

    /// The best this machine runs.
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        if std::is_x86_feature_detected!("avx2")
            && std::is_x86_feature_detected!("fma")
            && std::is_x86_feature_detected!("bmi2")
            && std::is_x86_feature_detected!("f16c")
            && std::is_x86_feature_detected!("lzcnt")
            && std::is_x86_feature_detected!("popcnt")
        {
            let widest = std::is_x86_feature_detected!("avx512f")
                && std::is_x86_feature_detected!("avx512bw")
                && std::is_x86_feature_detected!("avx512dq")
                && std::is_x86_feature_detected!("avx512vl")
                && std::is_x86_feature_detected!("avx512vnni");
            return if widest { Self::Widest } else { Self::Wide };
        }
        Self::Plain
    }
}

/// One instruction's compilations.
#[derive(Clone, Copy)]
pub struct Handlers {
    pub plain: Handler,
    pub wide: Handler,
    pub widest: Handler,
    /// Whether they write inactive lanes of the destination, too.
    pub all_lanes: bool,
    /// Bytes of a lane of the result, of the sources `a`, `b` and `c`, and of a fourth, 0 for one that is
    /// not taken. None where only the body knows.
    pub lanes: Option<[u8; 5]>,
}

impl Handlers {
    pub fn at(self, level: Level) -> Handler {
        match level {
            Level::Plain => self.plain,
            Level::Wide => self.wide,
            Level::Widest => self.widest,
        }
    }
}

/// Compile a handler body once, for code that vectors do not speed up.
macro_rules! once {
    ($body:expr) => {{
        unsafe fn plain(
            core: &mut $crate::exec::Core,
            inst: &$crate::program::Inst,
        ) -> $crate::exec::Flow {
            // SAFETY: the caller keeps the contract of `Handler`, which is the body's.
            unsafe { $body(core, inst) }
        }
        $crate::exec::Handlers { plain, wide: plain, widest: plain, all_lanes: false, lanes: None }
    }};
}

/// Compile a handler body twice.
macro_rules! both {
    ($body:expr) => {
        $crate::exec::both!($body, $body)
    };
    ($plain:expr, $wide:expr) => {{
        unsafe fn plain(
            core: &mut $crate::exec::Core,
            inst: &$crate::program::Inst,
        ) -> $crate::exec::Flow {
            // SAFETY: the caller keeps the contract of `Handler`, which is the body's.
            unsafe { $plain(core, inst) }
        }
        #[cfg_attr(
            target_arch = "x86_64",
            target_feature(enable = "avx2,fma,bmi2,f16c,lzcnt,popcnt")
        )]
        unsafe fn wide(
            core: &mut $crate::exec::Core,
            inst: &$crate::program::Inst,
        ) -> $crate::exec::Flow {
            // SAFETY: as above; this one is chosen only where the features were detected.
            unsafe { $wide(core, inst) }
        }
        $crate::exec::Handlers { plain, wide, widest: wide, all_lanes: false, lanes: None }
    }};
}

/// Compile a handler body three times, the last for AVX-512, with a body of its own: for the few that are
/// long enough to gain.
macro_rules! thrice {
    ($body:expr, $widest:expr) => {
        $crate::exec::thrice!($body, $body, $widest)
    };
    ($plain:expr, $wide:expr, $widest:expr) => {{
        #[cfg_attr(
            target_arch = "x86_64",
            target_feature(
                enable = "avx2,fma,bmi2,f16c,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni"
            )
        )]
        unsafe fn widest(
            core: &mut $crate::exec::Core,
            inst: &$crate::program::Inst,
        ) -> $crate::exec::Flow {
            // SAFETY: as in `both!`.
            unsafe { $widest(core, inst) }
        }
        $crate::exec::Handlers { widest, ..$crate::exec::both!($plain, $wide) }
    }};
}

/// Handlers of an element-wise instruction, from what it does to one lane. The first parameter is
/// the instruction's modifier bits. `hot` ones, which kernels consist of, are compiled for AVX-512, too.
macro_rules! op {
    ($($hot:ident)? |$f:pat_param, $a:ident: $A:ty| -> $D:ty $body:block) => {{
        struct O;
        impl $crate::exec::Op1 for O {
            type D = $D;
            type A = $A;
            #[inline(always)]
            fn f($f: u32, $a: $A) -> $D $body
        }
        $crate::exec::element_wise!($($hot)? op1)
    }};
    ($($hot:ident)? |$f:pat_param, $a:ident: $A:ty, $b:ident: $B:ty| -> $D:ty $body:block) => {{
        struct O;
        impl $crate::exec::Op2 for O {
            type D = $D;
            type A = $A;
            type B = $B;
            #[inline(always)]
            fn f($f: u32, $a: $A, $b: $B) -> $D $body
        }
        $crate::exec::element_wise!($($hot)? op2)
    }};
    ($($hot:ident)? |$f:pat_param, $a:ident: $A:ty, $b:ident: $B:ty, $c:ident: $C:ty| -> $D:ty $body:block) => {{
        struct O;
        impl $crate::exec::Op3 for O {
            type D = $D;
            type A = $A;
            type B = $B;
            type C = $C;
            #[inline(always)]
            fn f($f: u32, $a: $A, $b: $B, $c: $C) -> $D $body
        }
        $crate::exec::element_wise!($($hot)? op3)
    }};
}

/// The compilations of `op1`, `op2` or `op3` for the operation `O` that is in scope.
macro_rules! element_wise {
    ($op:ident) => {{
        use $crate::exec::{PLAIN, WIDE, $op};
        $crate::exec::Handlers {
            all_lanes: true,
            lanes: Some($crate::exec::lanes::$op::<O>()),
            ..$crate::exec::both!($op::<O, PLAIN>, $op::<O, WIDE>)
        }
    }};
    (hot $op:ident) => {{
        use $crate::exec::{PLAIN, WIDE, WIDEST, $op};
        $crate::exec::Handlers {
            all_lanes: true,
            lanes: Some($crate::exec::lanes::$op::<O>()),
            ..$crate::exec::thrice!($op::<O, PLAIN>, $op::<O, WIDE>, $op::<O, WIDEST>)
        }
    }};
}

/// As `op!`, for forms too rare or too long to be compiled twice and unrolled: one lane at a time,
/// active lanes only. Without it, and with masks in every handler, the crate took three times as long
/// to compile.
macro_rules! rare {
    (|$f:pat_param, $a:ident: $A:ty| -> $D:ty $body:block) => {
        $crate::exec::rare!(|$f, $a: $A, _b: u32, _c: u32| -> $D $body)
    };
    (|$f:pat_param, $a:ident: $A:ty, $b:ident: $B:ty| -> $D:ty $body:block) => {
        $crate::exec::rare!(|$f, $a: $A, $b: $B, _c: u32| -> $D $body)
    };
    (|$f:pat_param, $a:ident: $A:ty, $b:ident: $B:ty, $c:ident: $C:ty| -> $D:ty $body:block) => {
        $crate::exec::rare!(|$f, $a: $A, $b: $B, $c: $C, _e: u32| -> $D $body)
    };
    (|$f:pat_param, $a:ident: $A:ty, $b:ident: $B:ty, $c:ident: $C:ty, $e:ident: $E:ty| -> $D:ty $body:block) => {{
        fn one($f: u32, $a: $A, $b: $B, $c: $C, $e: $E) -> $D $body
        unsafe fn each(
            core: &mut $crate::exec::Core,
            inst: &$crate::program::Inst,
        ) -> $crate::exec::Flow {
            // SAFETY: the caller keeps the contract of `Handler`, which is the body's.
            unsafe { $crate::exec::lane_by_lane(core, inst, one) }
        }
        let lanes = Some([
            size_of::<$D>() as u8,
            size_of::<$A>() as u8,
            size_of::<$B>() as u8,
            size_of::<$C>() as u8,
            size_of::<$E>() as u8,
        ]);
        $crate::exec::Handlers { plain: each, wide: each, widest: each, all_lanes: true, lanes }
    }};
}

pub(crate) use {both, element_wise, once, op, rare, thrice};

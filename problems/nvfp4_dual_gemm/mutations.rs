//! What people are known to get wrong: with the products, and with the gate.

use formats::{f16, f64_to_f32_odd};

use super::gate::{Gate, silu};
use crate::hypothesis::{Mutation, joined};
use crate::products::mutations::{COUNT, mutations};

pub(super) static MUTATIONS: [Mutation<Gate>; GATES.len() + COUNT] =
    joined(&[&GATES, &mutations()]);

const GATES: [Mutation<Gate>; 19] = [
    Mutation {
        id: "silu_missing",
        says: "the two sums are multiplied, without silu",
        axis: 21,
        apply: |r| r.gate = |x| x,
    },
    Mutation {
        id: "silu_of_the_second",
        says: "silu is taken of the product with b2, or b1 and b2 are taken for each other; it is of \
               the one with b1",
        axis: 22,
        apply: |r| r.joined = |first, second, gate| first * gate(second),
    },
    Mutation {
        id: "silu_of_both",
        says: "silu is taken of both sums; it is of the one with b1",
        axis: 22,
        apply: |r| r.joined = |first, second, gate| gate(first) * gate(second),
    },
    Mutation {
        id: "silu_of_the_product",
        says: "silu is taken of the product of both sums; it is of the one with b1",
        axis: 22,
        apply: |r| r.joined = |first, second, gate| gate(first * second),
    },
    Mutation {
        id: "b2_missing",
        says: "c is silu of the product with b1, without the one with b2",
        axis: 22,
        apply: |r| r.joined = |first, _, gate| gate(first),
    },
    Mutation {
        id: "b1_missing",
        says: "c is the product with b2, without silu of the one with b1",
        axis: 22,
        apply: |r| r.joined = |_, second, _| second,
    },
    Mutation {
        id: "added_not_multiplied",
        says: "silu of the first sum is added to the second; they are multiplied",
        axis: 22,
        apply: |r| r.joined = |first, second, gate| gate(first) + second,
    },
    Mutation {
        id: "sigmoid",
        says: "the gate is sigmoid(x); silu is x * sigmoid(x)",
        axis: 21,
        apply: |r| r.gate = |x| 1.0 / (1.0 + (-x).exp()),
    },
    Mutation {
        id: "sign_of_the_exponent",
        says: "the gate is x / (1 + exp(x)); silu is x / (1 + exp(-x))",
        axis: 21,
        apply: |r| r.gate = |x| x / (1.0 + x.exp()),
    },
    Mutation {
        id: "relu",
        says: "the gate is relu; silu is negative below zero",
        axis: 21,
        apply: |r| r.gate = |x| x.max(0.0),
    },
    Mutation {
        id: "gelu",
        says: "the gate is gelu by its tanh formula; it is silu",
        axis: 21,
        apply: |r| {
            r.gate = |x| {
                // 1 + tanh(y) is twice the sigmoid of 2 y.
                let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x * x * x);
                x / (1.0 + (-2.0 * inner).exp())
            }
        },
    },
    Mutation {
        id: "quick_gelu",
        says: "the gate is x * sigmoid(1.702 x), which approximates gelu; it is silu",
        axis: 21,
        apply: |r| r.gate = |x| x / (1.0 + (-1.702 * x).exp()),
    },
    Mutation {
        id: "exp_without_log2e",
        says: "2 to the power of -x is taken for exp(-x): ex2 wants x * log2(e)",
        axis: 21,
        apply: |r| r.gate = |x| x / (1.0 + (-x).exp2()),
    },
    Mutation {
        id: "exp_overflows",
        says: "silu is exp(x) / (1 + exp(x)), which is not a number where x is above 88.7",
        axis: 21,
        apply: |r| r.gate = |x| if x > 88.722_84 { f64::NAN } else { silu(x) },
    },
    Mutation {
        id: "sums_rounded_to_f16",
        says: "the sums are rounded to f16 before the gate; c is rounded once, at the end",
        axis: 20,
        apply: |r| r.sum = in_f16,
    },
    Mutation {
        id: "silu_rounded_to_f16",
        says: "silu is rounded to f16 before it meets the second sum; c is rounded once, at the end",
        axis: 24,
        apply: |r| r.gated = in_f16,
    },
    Mutation {
        id: "b1_twice",
        says: "both sums are of the product with b1",
        axis: 23,
        apply: |r| (r.matrix, r.scales) = ([0, 0], [0, 0]),
    },
    Mutation {
        id: "sfb1_for_both",
        says: "the scales of b1 are used for b2, too",
        axis: 23,
        apply: |r| r.scales = [0, 0],
    },
    Mutation {
        id: "sfb1_and_sfb2_swapped",
        says: "the scales of b1 and b2 are taken for each other",
        axis: 23,
        apply: |r| r.scales = [1, 0],
    },
];

fn in_f16(value: f64) -> f64 {
    f64::from(f16::decode(f16::encode(f64_to_f32_odd(value))))
}

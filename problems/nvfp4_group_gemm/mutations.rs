//! What people are known to get wrong: with the products, and with the groups.

use super::groups::Grouped;
use crate::hypothesis::{Mutation, joined};
use crate::products::mutations::{COUNT, mutations};

pub(super) static MUTATIONS: [Mutation<Grouped>; COUNT + GROUPS.len()] =
    joined(&[&mutations(), &GROUPS]);

const GROUPS: [Mutation<Grouped>; 6] = [
    Mutation {
        id: "group_0_for_all",
        says: "a and b of group 0 are multiplied for every group",
        axis: 20,
        apply: |r| (r.a, r.b) = (|_, _| 0, |_, _| 0),
    },
    Mutation {
        id: "a_of_group_0",
        says: "every group is given a of group 0",
        axis: 20,
        apply: |r| r.a = |_, _| 0,
    },
    Mutation {
        id: "b_of_group_0",
        says: "every group is given b of group 0",
        axis: 20,
        apply: |r| r.b = |_, _| 0,
    },
    Mutation {
        id: "groups_in_reverse",
        says: "the groups are taken in reverse order",
        axis: 20,
        apply: |r| {
            (r.a, r.b) = (|own, count| count - 1 - own, |own, count| count - 1 - own);
        },
    },
    Mutation {
        id: "next_group",
        says: "every group is given what belongs to the next one",
        axis: 20,
        apply: |r| {
            (r.a, r.b) = (|own, count| (own + 1) % count, |own, count| (own + 1) % count);
        },
    },
    Mutation {
        id: "k_of_group_0",
        says: "k of group 0 is used for every group; each has its own",
        axis: 21,
        apply: |r| r.k = |_, _| 0,
    },
];

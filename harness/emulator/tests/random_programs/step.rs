//! What a program is made of, and how it is drawn.

use proptest::prelude::*;

/// Choices of registers: whoever takes one takes it modulo how many there are.
pub type Draws = [u8; 6];

#[derive(Clone, Debug)]
pub enum Step {
    /// A form, its registers, and perhaps a guard.
    Do {
        form: u16,
        draws: Draws,
        guard: Option<(u8, bool)>,
    },
    /// Carries handed on from one to the next.
    Chain(Vec<(u8, Draws)>),
    /// Lanes for which a comparison of two registers holds, and the others.
    If(u8, u8, Vec<Step>, Vec<Step>),
    Loop(Loop),
    /// By two bits of a register.
    Switch(u8, Vec<Vec<Step>>),
    /// Some lanes go on with the next round of the loop around, or leave it.
    Skip {
        a: u8,
        b: u8,
        leave: bool,
    },
    Array(Array),
    /// Which function, its arguments and what its result goes to; by name or by a pointer.
    Call {
        function: u8,
        draws: Draws,
        pointer: bool,
    },
    /// Across the lanes that are here.
    Lanes(u8, Draws),
    /// How good an approximation of a double is.
    Approximate(u8, u8),
    /// Through shared memory, with all threads: each takes the word of another.
    Exchange(u8, u8, u8),
    /// Into one word, with all threads: whoever comes first, the same comes out.
    Reduce(u8, u8, u8),
}

/// As many rounds as two bits of a register say, and one.
#[derive(Clone, Debug)]
pub struct Loop {
    pub rounds: u8,
    pub body: Vec<Step>,
    /// A value of each round that the next one uses: before or behind this round's is made.
    pub carried: Option<(bool, Draws)>,
    /// A value that some rounds keep for what follows the loop.
    pub kept: Option<Draws>,
}

/// A load or store of an element of an array.
#[derive(Clone, Debug)]
pub struct Array {
    pub shared: bool,
    pub store: bool,
    pub generic: bool,
    /// Registers of 32 bits, for shared memory.
    pub narrow: bool,
    pub element: u8,
    /// From which side, and how far off, the array is addressed.
    pub side: u8,
    pub index: u8,
    pub draws: Draws,
}

/// A kernel and the functions that it calls, of which the last calls itself.
#[derive(Clone, Debug)]
pub struct Program {
    pub functions: Vec<Vec<Step>>,
    pub kernel: Vec<Step>,
}

fn plain() -> impl Strategy<Value = Step> {
    let guard = proptest::option::weighted(0.15, (any::<u8>(), any::<bool>()));
    let form = (any::<u16>(), any::<Draws>(), guard).prop_map(|(form, draws, guard)| Step::Do {
        form,
        draws,
        guard,
    });
    let chain = proptest::collection::vec((any::<u8>(), any::<Draws>()), 2..6);
    let array = (any::<[bool; 4]>(), any::<[u8; 3]>(), any::<Draws>()).prop_map(
        |([shared, store, generic, narrow], [element, side, index], draws)| {
            Step::Array(Array { shared, store, generic, narrow, element, side, index, draws })
        },
    );
    prop_oneof![
        20 => form,
        1 => chain.prop_map(Step::Chain),
        4 => array,
        1 => (any::<u8>(), any::<u8>()).prop_map(|(a, b)| Step::Approximate(a, b)),
    ]
}

fn steps(depth: u32, calls: bool) -> impl Strategy<Value = Vec<Step>> {
    let leaf = proptest::collection::vec(plain(), 1..8);
    leaf.prop_recursive(depth, 60, 6, move |inner| {
        let carried = proptest::option::of((any::<bool>(), any::<Draws>()));
        let kept = proptest::option::of(any::<Draws>());
        let round = (any::<u8>(), inner.clone(), carried, kept).prop_map(
            |(rounds, body, carried, kept)| Step::Loop(Loop { rounds, body, carried, kept }),
        );
        let call = (any::<u8>(), any::<Draws>(), any::<bool>())
            .prop_map(|(function, draws, pointer)| Step::Call { function, draws, pointer });
        let arms = proptest::collection::vec(inner.clone(), 4);
        let step = prop_oneof![
            20 => plain(),
            2 => (any::<u8>(), any::<u8>(), inner.clone(), inner.clone())
                .prop_map(|(a, b, yes, no)| Step::If(a, b, yes, no)),
            2 => (any::<u8>(), any::<u8>(), inner)
                .prop_map(|(a, b, yes)| Step::If(a, b, yes, Vec::new())),
            3 => round,
            1 => (any::<u8>(), arms).prop_map(|(index, arms)| Step::Switch(index, arms)),
            1 => (any::<u8>(), any::<u8>(), any::<bool>())
                .prop_map(|(a, b, leave)| Step::Skip { a, b, leave }),
            u32::from(calls) + 1 => call,
            2 => (any::<u8>(), any::<Draws>()).prop_map(|(which, draws)| Step::Lanes(which, draws)),
        ];
        proptest::collection::vec(step, 1..10)
    })
}

/// All threads meet between the parts of a kernel only, so there they may exchange.
pub fn program() -> impl Strategy<Value = Program> {
    let meeting = prop_oneof![
        any::<[u8; 3]>().prop_map(|[a, b, c]| Step::Exchange(a, b, c)),
        any::<[u8; 3]>().prop_map(|[a, b, c]| Step::Reduce(a, b, c)),
    ];
    let parts = proptest::collection::vec((steps(3, true), meeting), 1..5);
    let functions = proptest::collection::vec(steps(2, false), 3);
    (functions, parts).prop_map(|(functions, parts)| {
        let together = |(mut steps, meeting): (Vec<Step>, Step)| {
            steps.push(meeting);
            steps
        };
        Program { functions, kernel: parts.into_iter().flat_map(together).collect() }
    })
}

impl Step {
    /// Whether lanes look at each other in here.
    pub fn meets(&self) -> bool {
        let any = |steps: &[Self]| steps.iter().any(Self::meets);
        match self {
            Self::Lanes(..) => true,
            Self::If(_, _, yes, no) => any(yes) || any(no),
            Self::Loop(Loop { body, .. }) => any(body),
            _ => false,
        }
    }
}

//! Keep a formula as a program for a stack: operands first, then their operator.

/// The most numbers that a step takes from the stack.
const MOST_TAKEN: usize = 3;

/// A step of the program: push a number, or replace the top ones by a result.
#[derive(Debug, Clone, Copy)]
pub(super) enum Op {
    Number(f64),
    Parameter(usize),
    Negate,
    Square,
    Add,
    Subtract,
    Multiply,
    Divide,
    Call(fn(f64) -> f64),
    CallTwo(fn(f64, f64) -> f64),
    CallThree(fn(f64, f64, f64) -> f64),
}

pub(super) type Code = Vec<Op>;

impl Op {
    /// How many numbers the step takes from the stack; it leaves one.
    pub fn takes(self) -> usize {
        match self {
            Op::Number(_) | Op::Parameter(_) => 0,
            Op::Negate | Op::Square | Op::Call(_) => 1,
            Op::Add | Op::Subtract | Op::Multiply | Op::Divide | Op::CallTwo(_) => 2,
            Op::CallThree(_) => MOST_TAKEN,
        }
    }
}

/// The greatest number of numbers on the stack.
pub(super) fn depth(code: &[Op]) -> usize {
    let (mut now, mut most) = (0, 0);
    for op in code {
        now = now + 1 - op.takes();
        most = most.max(now);
    }
    most
}

/// Run a program on a stack that is large enough.
pub(super) fn run(code: &[Op], x: &[f64], stack: &mut [f64]) -> f64 {
    let mut top = 0;
    for &op in code {
        top -= op.takes();
        let above = |i: usize| stack.get(top + i).copied().unwrap_or(f64::NAN);
        let (a, b) = (stack[top], above(1));
        stack[top] = match op {
            Op::Number(value) => value,
            Op::Parameter(i) => x.get(i).copied().unwrap_or(f64::NAN),
            Op::Negate => -a,
            Op::Square => a * a,
            Op::Add => a + b,
            Op::Subtract => a - b,
            Op::Multiply => a * b,
            Op::Divide => a / b,
            Op::Call(function) => function(a),
            Op::CallTwo(function) => function(a, b),
            Op::CallThree(function) => function(a, b, above(2)),
        };
        top += 1;
    }
    stack[0]
}

/// `operands`, then `op`; worked out now if no parameter is in them.
pub(super) fn apply(operands: Code, op: Op) -> Code {
    let fixed = operands.len() == op.takes();
    let fixed = fixed && operands.iter().all(|op| matches!(op, Op::Number(_)));
    let mut code = operands;
    code.push(op);
    if fixed {
        return vec![Op::Number(run(&code, &[], &mut [0.0; MOST_TAKEN]))];
    }
    code
}

/// a, b, then `op`.
pub(super) fn join(mut a: Code, b: Code, op: Op) -> Code {
    a.extend(b);
    apply(a, op)
}

/// a^b; a square is a product, faster than a power and the same on every machine.
pub(super) fn power(a: Code, b: Code) -> Code {
    match b[..] {
        [Op::Number(2.0)] => apply(a, Op::Square),
        _ => join(a, b, Op::CallTwo(f64::powf)),
    }
}

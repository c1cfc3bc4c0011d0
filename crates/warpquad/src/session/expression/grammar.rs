//! Read a formula by the precedence of its operators.

use super::program::{Code, Op, apply, join, power};
use crate::numeric::special::{erf, erfc, ln_add_exp, ln_gamma, normal_cdf};
use winnow::Parser;
use winnow::ascii::{digit0, digit1, multispace0};
use winnow::combinator::{Infix, Prefix, alt, expression, opt};
use winnow::error::ParserError;
use winnow::token::{one_of, take_while};

type Function = fn(f64) -> f64;
type FunctionOfTwo = fn(f64, f64) -> f64;
type FunctionOfThree = fn(f64, f64, f64) -> f64;

/// The functions of one number.
const FUNCTIONS: &[(&str, Function)] = &[
    ("exp", f64::exp),
    ("log", f64::ln),
    ("ln", f64::ln),
    ("log10", f64::log10),
    ("sqrt", f64::sqrt),
    ("abs", f64::abs),
    ("sin", f64::sin),
    ("cos", f64::cos),
    ("tan", f64::tan),
    ("sinh", f64::sinh),
    ("cosh", f64::cosh),
    ("tanh", f64::tanh),
    ("asin", f64::asin),
    ("acos", f64::acos),
    ("atan", f64::atan),
    ("erf", erf),
    ("erfc", erfc),
    ("lgamma", ln_gamma),
    ("normal_cdf", normal_cdf),
    ("expm1", f64::exp_m1),
    ("log1p", f64::ln_1p),
];

/// The functions of two numbers.
const FUNCTIONS_OF_TWO: &[(&str, FunctionOfTwo)] = &[
    ("min", smaller),
    ("max", larger),
    ("pow", f64::powf),
    ("logaddexp", ln_add_exp),
];

/// The functions of three numbers.
const FUNCTIONS_OF_THREE: &[(&str, FunctionOfThree)] = &[("if", choose)];

/// 1 or 0, but NaN where a number that was compared is one: a failed argument stays failed.
fn truth(a: f64, b: f64, holds: bool) -> f64 {
    match a.is_nan() || b.is_nan() {
        true => f64::NAN,
        false => f64::from(holds),
    }
}

/// `a` where the condition is not 0, else `b`. What is not chosen may be NaN.
fn choose(condition: f64, a: f64, b: f64) -> f64 {
    match condition {
        c if c.is_nan() => c,
        0.0 => b,
        _ => a,
    }
}

/// The smaller of two numbers. A NaN stays one: std's `min` would hide a failed argument.
fn smaller(a: f64, b: f64) -> f64 {
    if a < b || a.is_nan() { a } else { b }
}

/// The larger of two numbers, or the NaN among them.
fn larger(a: f64, b: f64) -> f64 {
    if a > b || a.is_nan() { a } else { b }
}

/// The constants; a parameter of the same name hides one.
const CONSTANTS: &[(&str, f64)] = &[("pi", std::f64::consts::PI), ("e", std::f64::consts::E)];

/// The deepest nesting that is read. The parser recurses, and a frame takes a few kilobytes of a
/// stack that may have two megabytes.
pub(super) const DEEPEST: usize = 64;

/// An upper bound on how deep the parser recurses: open parentheses, powers from the right and
/// leading minuses.
pub(super) fn nesting(text: &str) -> usize {
    let (mut level, mut deepest, mut base) = (0_usize, 0, 0);
    let mut open = Vec::new();
    let mut after_operand = false;
    let mut last_two = [' ', ' '];
    for c in text.chars() {
        let in_exponent = matches!(last_two, ['0'..='9' | '.', 'e' | 'E']);
        last_two = [last_two[1], c];
        match c {
            '(' => {
                open.push((level, base));
                level += 1;
                base = level;
            }
            ')' => (level, base) = open.pop().unwrap_or((0, 0)),
            '^' => level += 1,
            '-' if !after_operand => level += 1,
            // A sum or product ends the power before it; the sign in 1e-3 ends nothing.
            '+' | '-' | '*' | '/' | ',' | '<' | '>' | '=' | '!' if !in_exponent => level = base,
            _ => {}
        }
        deepest = deepest.max(level);
        after_operand = match c {
            c if c.is_whitespace() => after_operand,
            c => c == ')' || !"(^+-*/,<>=!".contains(c),
        };
    }
    deepest
}

/// What the parser says when it stops.
#[derive(Debug)]
pub(super) struct Fault {
    /// How many bytes of the text were left.
    pub remaining: usize,
    pub reason: String,
    /// Whether something else may be tried at this place.
    fatal: bool,
}

impl Fault {
    /// An error at the start of `rest`.
    pub fn at(rest: &str, reason: impl Into<String>) -> Fault {
        Fault {
            remaining: rest.len(),
            reason: reason.into(),
            fatal: true,
        }
    }
}

impl ParserError<&str> for Fault {
    type Inner = Fault;

    fn from_input(input: &&str) -> Fault {
        Fault {
            fatal: false,
            ..Fault::at(input, unexpected(input))
        }
    }

    fn is_backtrack(&self) -> bool {
        !self.fatal
    }

    fn into_inner(self) -> Result<Fault, Fault> {
        Ok(self)
    }
}

pub(super) type Parsed<T> = Result<T, Fault>;

/// What to say when a formula does not go on as it should.
pub(super) fn unexpected(rest: &str) -> String {
    match rest.chars().next() {
        None => "the expression ends too early".to_string(),
        Some(')') => "a closing parenthesis without an opening one".to_string(),
        Some('*') => {
            "'*' where a number, a name or '(' should be; a power is written ^".to_string()
        }
        Some(c) if c.is_alphanumeric() || "_(.".contains(c) => {
            "an operator is missing here; a product is written with *".to_string()
        }
        Some(c) if "+-/^,".contains(c) => format!("'{c}' where a number, a name or '(' should be"),
        Some('=') if !rest.starts_with("==") => {
            "'=' has no meaning here; equality is written ==".to_string()
        }
        Some(c) if "<>=!".contains(c) => format!(
            "'{c}' where a number, a name or '(' should be; comparisons do not chain: write \
             (a < b)*(b < c)"
        ),
        Some(c) => format!("'{c}' has no meaning here"),
    }
}

/// A whole formula, as far as it goes.
pub(super) fn formula(input: &mut &str, names: &[String]) -> Parsed<Code> {
    expression(|input: &mut &str| operand(input, names))
        .prefix(prefix)
        .infix(infix)
        .parse_next(input)
}

fn prefix<'i>(input: &mut &'i str) -> Parsed<Prefix<&'i str, Code, Fault>> {
    skip(input)?;
    if take(input, '-') {
        return Ok(Prefix(30, |_, a| Ok(apply(a, Op::Negate))));
    }
    Err(Fault::at(input, unexpected(input)))
}

fn infix<'i>(input: &mut &'i str) -> Parsed<Infix<&'i str, Code, Fault>> {
    skip(input)?;
    if let Some(comparison) = comparison(input) {
        return Ok(comparison);
    }
    let operator = one_of(['+', '-', '*', '/', '^']).parse_next(input)?;
    Ok(match operator {
        '+' => Infix::Left(10, |_, a, b| Ok(join(a, b, Op::Add))),
        '-' => Infix::Left(10, |_, a, b| Ok(join(a, b, Op::Subtract))),
        '*' => Infix::Left(20, |_, a, b| Ok(join(a, b, Op::Multiply))),
        '/' => Infix::Left(20, |_, a, b| Ok(join(a, b, Op::Divide))),
        _ => Infix::Right(40, |_, a, b| Ok(power(a, b))),
    })
}

/// A comparison, if one comes next; it binds less than a sum.
fn comparison<'i>(input: &mut &'i str) -> Option<Infix<&'i str, Code, Fault>> {
    type Fold<'i> = fn(&mut &'i str, Code, Code) -> Parsed<Code>;
    let (length, fold): (usize, Fold<'i>) = match input.as_bytes() {
        [b'<', b'=', ..] => (2, |_, a, b| Ok(compare(a, b, |a, b| truth(a, b, a <= b)))),
        [b'>', b'=', ..] => (2, |_, a, b| Ok(compare(a, b, |a, b| truth(a, b, a >= b)))),
        [b'=', b'=', ..] => (2, |_, a, b| Ok(compare(a, b, |a, b| truth(a, b, a == b)))),
        [b'!', b'=', ..] => (2, |_, a, b| Ok(compare(a, b, |a, b| truth(a, b, a != b)))),
        [b'<', ..] => (1, |_, a, b| Ok(compare(a, b, |a, b| truth(a, b, a < b)))),
        [b'>', ..] => (1, |_, a, b| Ok(compare(a, b, |a, b| truth(a, b, a > b)))),
        _ => return None,
    };
    *input = &input[length..];
    Some(Infix::Neither(5, fold))
}

fn compare(a: Code, b: Code, holds: FunctionOfTwo) -> Code {
    join(a, b, Op::CallTwo(holds))
}

/// A number, a parenthesis, a name or a call.
fn operand(input: &mut &str, names: &[String]) -> Parsed<Code> {
    skip(input)?;
    if take(input, '(') {
        let inner = formula(input, names)?;
        close(input)?;
        return Ok(inner);
    }
    if let Some(digits) = opt(number).parse_next(input)? {
        // Digits, a point and an exponent are always a double, if an infinite one.
        return Ok(vec![Op::Number(digits.parse().unwrap_or(f64::NAN))]);
    }
    let start = *input;
    let name = identifier(input)?;
    skip(input)?;
    if take(input, '(') {
        call(start, name, input, names)
    } else if take(input, '[') {
        Ok(vec![element(start, name, input, names)?])
    } else {
        Ok(vec![value(start, name, names)?])
    }
}

/// The element of the vector `name`, which stands at `start`, after its opening bracket.
fn element(start: &str, name: &str, input: &mut &str, names: &[String]) -> Parsed<Op> {
    let size = elements(name, names);
    if size == 0 {
        let reason = format!("{name} is not a vector, so it has no elements");
        return Err(Fault::at(start, reason));
    }
    skip(input)?;
    let wanted = format!("{name} has the elements {name}[0] to {name}[{}]", size - 1);
    let Some(index) = opt(digit1::<&str, Fault>).parse_next(input)? else {
        return Err(Fault::at(input, wanted));
    };
    skip(input)?;
    if !take(input, ']') {
        return Err(Fault::at(input, "a closing bracket ] should be here"));
    }
    let full = format!("{name}[{index}]");
    match names.iter().position(|known| *known == full) {
        Some(i) => Ok(Op::Parameter(i)),
        None => Err(Fault::at(start, wanted)),
    }
}

/// How many parameters are elements of the vector `name`.
fn elements(name: &str, names: &[String]) -> usize {
    let inside = |known: &&String| {
        let rest = known.strip_prefix(name);
        rest.is_some_and(|rest| rest.starts_with('['))
    };
    names.iter().filter(inside).count()
}

/// The parameter or constant `name`, which stands at `start`.
fn value(start: &str, name: &str, names: &[String]) -> Parsed<Op> {
    if let Some(i) = names.iter().position(|known| known == name) {
        return Ok(Op::Parameter(i));
    }
    if let Some(&(_, value)) = CONSTANTS.iter().find(|(known, _)| *known == name) {
        return Ok(Op::Number(value));
    }
    if elements(name, names) > 0 {
        let reason = format!("{name} is a vector: write {name}[0] and so on");
        return Err(Fault::at(start, reason));
    }
    if functions().any(|known| known == name) {
        return Err(Fault::at(
            start,
            format!("{name} is a function: write {name}(...)"),
        ));
    }
    let reason = match names.len() {
        0 => format!("unknown name '{name}'; there are no parameters"),
        1 => format!("unknown name '{name}'; the parameter is {}", names[0]),
        _ => format!(
            "unknown name '{name}'; the parameters are {}",
            names.join(", ")
        ),
    };
    Err(Fault::at(start, reason))
}

/// The call of `name`, which stands at `start`, after its opening parenthesis.
fn call(start: &str, name: &str, input: &mut &str, names: &[String]) -> Parsed<Code> {
    let one = FUNCTIONS.iter().find(|(known, _)| *known == name);
    let two = FUNCTIONS_OF_TWO.iter().find(|(known, _)| *known == name);
    let three = FUNCTIONS_OF_THREE.iter().find(|(known, _)| *known == name);
    let op = match (one, two, three) {
        (Some(&(_, function)), _, _) => Op::Call(function),
        (_, Some(&(_, function)), _) => Op::CallTwo(function),
        (_, _, Some(&(_, function))) => Op::CallThree(function),
        _ if names.iter().any(|known| known == name) => {
            let reason =
                format!("{name} is a parameter, not a function; a product is written with *");
            return Err(Fault::at(start, reason));
        }
        _ => {
            let known: Vec<&str> = functions().collect();
            let reason = format!(
                "unknown function '{name}'; the functions are {}",
                known.join(", ")
            );
            return Err(Fault::at(start, reason));
        }
    };
    let mut code = formula(input, names)?;
    let mut count = 1;
    skip(input)?;
    while take(input, ',') {
        code.extend(formula(input, names)?);
        count += 1;
        skip(input)?;
    }
    close(input)?;
    if count != op.takes() {
        let numbers = match op.takes() {
            1 => "1 number".to_string(),
            most => format!("{most} numbers"),
        };
        let reason = format!("{name} takes {numbers}, got {count}");
        return Err(Fault::at(start, reason));
    }
    Ok(apply(code, op))
}

/// The names of all functions.
pub(super) fn functions() -> impl Iterator<Item = &'static str> {
    let one = FUNCTIONS.iter().map(|(name, _)| *name);
    let two = FUNCTIONS_OF_TWO.iter().map(|(name, _)| *name);
    let three = FUNCTIONS_OF_THREE.iter().map(|(name, _)| *name);
    one.chain(two).chain(three)
}

/// Digits with or without a point and an exponent: 2, 0.5, .5, 1., 1e-3.
fn number<'i>(input: &mut &'i str) -> Parsed<&'i str> {
    let exponent = |input: &mut &'i str| {
        (one_of(['e', 'E']), opt(one_of(['+', '-'])), digit1)
            .take()
            .parse_next(input)
    };
    let whole = (digit1, opt(('.', digit0))).take();
    let fraction = ('.', digit1).take();
    (alt((whole, fraction)), opt(exponent))
        .take()
        .parse_next(input)
}

/// A letter or underscore, then letters, digits and underscores.
fn identifier<'i>(input: &mut &'i str) -> Parsed<&'i str> {
    let first = |c: char| c.is_alphabetic() || c == '_';
    let later = |c: char| c.is_alphanumeric() || c == '_';
    (one_of(first), take_while(0.., later))
        .take()
        .parse_next(input)
}

/// Whether `name` can stand in a formula.
pub(crate) fn is_name(name: &str) -> bool {
    let mut rest = name;
    identifier(&mut rest).is_ok() && rest.is_empty()
}

fn skip(input: &mut &str) -> Parsed<()> {
    multispace0.void().parse_next(input)
}

/// Step over `c` if it comes next.
fn take(input: &mut &str, c: char) -> bool {
    let rest = input.strip_prefix(c);
    *input = rest.unwrap_or(input);
    rest.is_some()
}

fn close(input: &mut &str) -> Parsed<()> {
    skip(input)?;
    if take(input, ')') {
        return Ok(());
    }
    Err(match input.chars().next() {
        None => Fault::at(input, "a closing parenthesis is missing"),
        Some(_) => Fault::at(input, unexpected(input)),
    })
}

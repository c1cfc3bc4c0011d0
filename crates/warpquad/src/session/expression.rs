//! Read a formula in the parameters' names and evaluate it, fast enough that it never matters.
//!
//! ```text
//! lowest   a < b   a <= b  ...  1 or 0; also > >= == !=; they do not chain
//!          a + b   a - b        from the left
//!          a * b   a / b        from the left
//!          -a                   so -x^2 is -(x^2), and 2^-x is 2^(-x)
//! highest  a ^ b                from the right: 2^3^2 is 2^9
//! ```
//!
//! The operator-precedence parser is winnow's, which the TOML reader uses too. Crates with a
//! grammar of their own do not fit: exmex 0.21 reads -2^2 as 4, 2^3^2 as 64 and the parameter
//! `minimum` as the operator `min`, and does not read 1e-3.

mod grammar;
mod program;

pub(crate) use grammar::is_name;

use grammar::{DEEPEST, Fault, formula, nesting, unexpected};
use program::{Code, depth, run};
use std::fmt;

/// A formula, ready to be evaluated.
///
/// ```
/// use warpquad::session::expression::Expression;
/// let names = ["x".to_string(), "y".to_string()];
/// let banana = Expression::parse("-(100*(y - x^2)^2 + (1 - x)^2)/20", &names)?;
/// assert_eq!(banana.evaluate(&[1.0, 1.0]), 0.0);
///
/// let error = Expression::parse("x + z", &names).unwrap_err();
/// assert_eq!(error.to_string(), "unknown name 'z'; the parameters are x, y");
/// assert_eq!(error.position, Some(4));
/// # Ok::<(), warpquad::session::expression::ExpressionError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Expression {
    /// Operands before their operators: a formula as a program for a stack.
    code: Code,
    /// How many numbers the stack holds at most.
    depth: usize,
}

/// Why a formula cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpressionError {
    /// Where, in bytes from the start of the text, if it is about one place.
    pub position: Option<usize>,
    /// What is wrong and what would be right.
    pub reason: String,
}

impl fmt::Display for ExpressionError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.reason)
    }
}

impl std::error::Error for ExpressionError {}

/// A stack of this size lies on the machine's own stack.
const SMALL: usize = 16;

impl Expression {
    /// Read `text`, in which `names` are the parameters in order.
    pub fn parse(text: &str, names: &[String]) -> Result<Expression, ExpressionError> {
        if text.trim().is_empty() {
            return Err(whole("the expression is empty"));
        }
        if nesting(text) > DEEPEST {
            let reason =
                format!("the expression is nested more than {DEEPEST} deep; use a command");
            return Err(whole(&reason));
        }
        let mut rest = text;
        let code = formula(&mut rest, names).and_then(|code| match rest.trim_start() {
            "" => Ok(code),
            left => Err(Fault::at(left, unexpected(left))),
        });
        match code {
            Ok(code) => Ok(Expression {
                depth: depth(&code),
                code,
            }),
            Err(fault) => Err(ExpressionError {
                position: Some(text.len() - fault.remaining),
                reason: fault.reason,
            }),
        }
    }

    /// The value at the point `x`, the parameters in order; NaN where a number is missing or the
    /// formula has no value.
    pub fn evaluate(&self, x: &[f64]) -> f64 {
        if self.depth <= SMALL {
            run(&self.code, x, &mut [0.0; SMALL])
        } else {
            run(&self.code, x, &mut vec![0.0; self.depth])
        }
    }
}

/// An error about the text as a whole.
fn whole(reason: &str) -> ExpressionError {
    ExpressionError {
        position: None,
        reason: reason.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::grammar::functions;
    use super::*;
    use crate::numeric::special::{erf, erfc, ln_add_exp, ln_gamma, normal_cdf};
    use proptest::prelude::*;

    fn names() -> Vec<String> {
        ["x", "y"].map(String::from).to_vec()
    }

    fn at(text: &str, x: f64, y: f64) -> f64 {
        let parsed = Expression::parse(text, &names());
        parsed
            .unwrap_or_else(|error| panic!("{text}: {error}"))
            .evaluate(&[x, y])
    }

    fn complaint(text: &str) -> (Option<usize>, String) {
        let error = Expression::parse(text, &names()).expect_err(text);
        (error.position, error.reason)
    }

    #[test]
    fn precedence() {
        for (text, want) in [
            ("-x^2", -9.0),
            ("(-x)^2", 9.0),
            ("2^-x", 0.125),
            ("2^3^2", 512.0),
            ("(2^3)^2", 64.0),
            ("-2^-2", -0.25),
            ("2^-2^2", 0.0625),
            ("x - y - 1", 0.0),
            ("12 / x / y", 2.0),
            ("12 / x * y", 8.0),
            ("1 + y * x ^ 2", 19.0),
            ("-x * -y", 6.0),
            ("x - -y", 5.0),
            ("--x", 3.0),
            ("x*-y^2", -12.0),
            ("-(x + y)*2", -10.0),
            ("((((x))))", 3.0),
            (" x\n\t+ y ", 5.0),
            ("min(x, y) - max(x, min(y, 7))", -1.0),
            ("pow(x, 2) - x^2", 0.0),
            ("max(-x^2, -y)", -2.0),
        ] {
            assert_eq!(at(text, 3.0, 2.0), want, "{text}");
        }
    }

    #[test]
    fn numbers_and_constants() {
        for (text, want) in [
            ("1e-3", 1e-3),
            ("1.5E+2", 150.0),
            (".5", 0.5),
            ("2.", 2.0),
            ("0.95", 0.95),
            ("1e-3^1", 1e-3),
            ("1e999", f64::INFINITY),
            ("pi", std::f64::consts::PI),
            ("e", std::f64::consts::E),
            ("2*e-1", 2.0 * std::f64::consts::E - 1.0),
        ] {
            assert_eq!(at(text, 0.0, 0.0), want, "{text}");
        }
        let named = Expression::parse("e*pi + exp(min)", &["e", "pi", "min"].map(String::from));
        assert_eq!(named.unwrap().evaluate(&[2.0, 3.0, 0.0]), 7.0);
        let longer =
            Expression::parse("minimum - powder", &["powder", "minimum"].map(String::from));
        assert_eq!(longer.unwrap().evaluate(&[2.0, 3.0]), 1.0);
    }

    #[test]
    fn every_function() {
        let x = 0.3_f64;
        for (text, want) in [
            ("exp(x)", x.exp()),
            ("log(x)", x.ln()),
            ("ln(x)", x.ln()),
            ("log10(x)", x.log10()),
            ("sqrt(x)", x.sqrt()),
            ("abs(-x)", x),
            ("sin(x)", x.sin()),
            ("cos(x)", x.cos()),
            ("tan(x)", x.tan()),
            ("sinh(x)", x.sinh()),
            ("cosh(x)", x.cosh()),
            ("tanh(x)", x.tanh()),
            ("asin(x)", x.asin()),
            ("acos(x)", x.acos()),
            ("atan(x)", x.atan()),
            ("erf(x)", erf(x)),
            ("expm1(x)", x.exp_m1()),
            ("log1p(x)", x.ln_1p()),
            ("min(x, 1)", x),
            ("max(x, 1)", 1.0),
            ("pow(x, 0.5)", x.powf(0.5)),
            ("erfc(x)", erfc(x)),
            ("lgamma(x)", ln_gamma(x)),
            ("normal_cdf(x)", normal_cdf(x)),
            ("logaddexp(x, 1)", ln_add_exp(x, 1.0)),
            ("if(x, 1, 2)", 1.0),
            ("exp (x)", x.exp()),
        ] {
            assert_eq!(at(text, x, 0.0), want, "{text}");
        }
        for name in functions() {
            let one = Expression::parse(&format!("{name}(x)"), &names()).is_ok();
            let two = Expression::parse(&format!("{name}(x, y)"), &names()).is_ok();
            let three = Expression::parse(&format!("{name}(x, y, x)"), &names()).is_ok();
            assert_eq!(
                [one, two, three].iter().filter(|&&ok| ok).count(),
                1,
                "{name}"
            );
        }
    }

    #[test]
    fn functions_have_the_values_of_the_tables() {
        // Digits of mpmath 1.4.
        for (text, want) in [
            ("lgamma(0.5)", 0.572_364_942_924_700_1),
            ("lgamma(6)", 4.787_491_742_782_046),
            ("normal_cdf(1.96)", 0.975_002_104_851_779_6),
            ("normal_cdf(-40)", 0.0),
            ("logaddexp(-1000, -1001)", -999.686_738_312_481_8),
            ("log1p(1e-20)", 1e-20),
        ] {
            let got = at(text, 0.0, 0.0);
            assert!((got - want).abs() <= 1e-13 * want.abs(), "{text}: {got}");
        }
    }

    #[test]
    fn comparisons_are_one_or_zero_and_bind_least() {
        for (text, want) in [
            ("x < y", 0.0),
            ("x > y", 1.0),
            ("x <= 3", 1.0),
            ("x >= 3", 1.0),
            ("x == 3", 1.0),
            ("x != 3", 0.0),
            ("x<y+2", 1.0),
            ("x < -y", 0.0),
            ("-x < y*y - 1", 1.0),
            ("(1 < x)*(x < 4)", 1.0),
            ("2^3^2 == 512", 1.0),
            ("if(x > y, x^2, sqrt(-1))", 9.0),
            ("if(x < y, log(-1), y)", 2.0),
            ("if(x > 0, if(y > 5, 1, 2), 3) + 1", 3.0),
        ] {
            assert_eq!(at(text, 3.0, 2.0), want, "{text}");
        }
    }

    #[test]
    fn elements_of_vectors_are_parameters() {
        let names = ["x", "beta[0]", "beta[1]"].map(String::from);
        let value = Expression::parse("x + 10*beta[0] + 100*beta[ 1 ]^2", &names);
        assert_eq!(value.unwrap().evaluate(&[1.0, 2.0, 3.0]), 921.0);
        for (text, position, part) in [
            ("x + beta", 4, "beta is a vector: write beta[0]"),
            ("beta[2]", 0, "beta has the elements beta[0] to beta[1]"),
            ("beta[x]", 5, "beta has the elements beta[0] to beta[1]"),
            ("beta[0", 6, "closing bracket"),
            ("x[0]", 0, "x is not a vector"),
        ] {
            let error = Expression::parse(text, &names).unwrap_err();
            assert_eq!(error.position, Some(position), "{text}: {error}");
            assert!(error.reason.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn failures_are_not_hidden() {
        assert_eq!(at("log(x)", 0.0, 0.0), f64::NEG_INFINITY);
        for text in [
            "log(x)",
            "min(sqrt(x), 1)",
            "max(1, sqrt(x))",
            "min(1, sqrt(x))",
            "max(sqrt(x), 1)",
            "sqrt(x) < 1",
            "sqrt(x) != 1",
            "if(sqrt(x), 1, 2)",
            "if(log(x) > 0, 1, 2)",
            "logaddexp(1, sqrt(x))",
        ] {
            assert!(at(text, -1.0, 0.0).is_nan(), "{text}");
        }
        let short = Expression::parse("x + y", &names()).unwrap();
        assert!(short.evaluate(&[1.0]).is_nan());
    }

    #[test]
    fn bad_input_is_explained() {
        for (text, position, part) in [
            ("", None, "empty"),
            (" \n", None, "empty"),
            ("(x + y", Some(6), "closing parenthesis is missing"),
            ("exp(x", Some(5), "closing parenthesis is missing"),
            ("x + y)", Some(5), "without an opening one"),
            ("x + * y", Some(4), "a number, a name"),
            ("x ** 2", Some(3), "written ^"),
            ("x / / y", Some(4), "'/'"),
            ("x +", Some(3), "too early"),
            ("(x + )", Some(5), "closing"),
            ("2x", Some(1), "operator is missing"),
            ("2(x)", Some(1), "operator is missing"),
            ("x y", Some(2), "operator is missing"),
            ("x(2)", Some(0), "not a function"),
            (
                "1 + z*x",
                Some(4),
                "unknown name 'z'; the parameters are x, y",
            ),
            ("foo(x)", Some(0), "unknown function 'foo'"),
            ("1 + exp", Some(4), "write exp(...)"),
            ("min(x)", Some(0), "takes 2 numbers, got 1"),
            ("1 - exp(x, y)", Some(4), "takes 1 number, got 2"),
            ("exp()", Some(4), "closing"),
            ("x, y", Some(1), "','"),
            ("x = 2", Some(2), "equality is written =="),
            ("0 < x < 1", Some(6), "comparisons do not chain"),
            ("if(0 < x < 1, 1, 2)", Some(9), "comparisons do not chain"),
            ("x + < 1", Some(4), "'<' where a number"),
            ("if(x > 0, 1)", Some(0), "if takes 3 numbers, got 2"),
            ("if x > 0", Some(0), "write if(...)"),
            ("!x", Some(0), "'!' where a number"),
            ("é", Some(0), "unknown name 'é'"),
            ("x + €", Some(4), "no meaning"),
        ] {
            let (got, reason) = complaint(text);
            assert_eq!(got, position, "{text}: {reason}");
            assert!(reason.contains(part), "{text}: {reason}");
        }
    }

    #[test]
    fn deep_nesting_is_refused_and_long_sums_are_not() {
        let parentheses = format!("{}x{}", "(".repeat(100_000), ")".repeat(100_000));
        for text in [
            parentheses,
            format!("{}x", "-".repeat(100_000)),
            format!("{}x", "x^".repeat(100_000)),
            format!("{}x", "x^-".repeat(100_000)),
            format!("{}x", "x^1e-3^".repeat(100_000)),
            format!("{}x", "exp(".repeat(100_000)),
        ] {
            assert!(complaint(&text).1.contains("nested"));
        }
        assert_eq!(
            at(&format!("{}0", "x^2 + ".repeat(10_000)), 1.0, 0.0),
            10_000.0
        );
        let right = format!("{}x{}", "(x + ".repeat(60), ")".repeat(60));
        assert_eq!(at(&right, 1.0, 0.0), 61.0);
    }

    #[test]
    fn constants_are_worked_out_once() {
        let folded = Expression::parse("2*pi/4 + sqrt(4)*x^2", &names()).unwrap();
        assert_eq!(folded.code.len(), 6);
        fn shared<T: Send + Sync>(_: &T) {}
        shared(&folded);
    }

    proptest! {
        #[test]
        fn never_panics(text in ".{0,60}") {
            let _ = Expression::parse(&text, &names());
        }

        #[test]
        fn never_panics_on_almost_formulas(text in "[xyze0-9.,()+*/^<>=!\\[\\] -]{0,40}") {
            if let Ok(formula) = Expression::parse(&text, &names()) {
                formula.evaluate(&[0.5, 2.0]);
            } else if let Err(error) = Expression::parse(&text, &names()) {
                prop_assert!(error.position.is_none_or(|at| text.is_char_boundary(at)));
            }
        }
    }
}

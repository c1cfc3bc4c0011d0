//! Check that a problem file is read as it is meant, and that every mistake is reported on its
//! line.

use super::*;
use crate::error::Error;
use crate::session::Session;
use crate::warp::Range;
use proptest::prelude::*;

/// A file in the words of the guide, with its integrand as the first line of its section.
fn file(integrand: &str) -> String {
    format!(
        "[integrand]                       # exactly one of these
{integrand}
range = [0, inf]                  # [0, inf] is the default; [0, 1] for rates; [-inf, inf] for none

[parameters]                      # in order; these are the prior
x = {{ uniform = [-5, 5] }}
y = {{ normal = [0, 1] }}           # every one-dimensional measure

[method]
name = \"mmlt\"
[budget]
evaluations = 100                 # also: seconds, log_z_sd
workers = 1
"
    )
}

const BANANA: &str = "log = \"-(100*(y - x^2)^2 + (1 - x)^2)/20\"       # ln f";

fn parse(text: &str) -> Problem {
    Problem::parse(text).unwrap_or_else(|error| panic!("{error}"))
}

fn refuse(text: &str) -> SpecError {
    Problem::parse(text).expect_err(text)
}

#[test]
fn a_whole_file() {
    let problem = parse(&file(BANANA));
    let formula = "-(100*(y - x^2)^2 + (1 - x)^2)/20".to_string();
    assert_eq!(problem.integrand, Integrand::Log(formula));
    assert_eq!(problem.settings.range, Range::POSITIVE);
    assert_eq!(problem.names, ["x", "y"]);
    let laws = vec![
        Law::new("uniform", &[-5.0, 5.0]),
        Law::new("normal", &[0.0, 1.0]),
    ];
    assert_eq!(problem.prior, PriorSpec::Product(laws));
    assert_eq!(problem.method.name.as_deref(), Some("mmlt"));
    assert_eq!(
        (problem.budget.evaluations, problem.budget.workers),
        (Some(100), 1)
    );
    assert_eq!(
        (problem.settings.on_failure, problem.settings.retries),
        (OnFailure::Stop, 2)
    );
    assert_eq!(
        (problem.settings.timeout, problem.settings.noise),
        (None, None)
    );
    assert_eq!(problem.measure().unwrap().dim(), 2);
}

#[test]
fn every_integrand() {
    let words = |words: &[&str]| {
        words
            .iter()
            .map(|word| word.to_string())
            .collect::<Vec<_>>()
    };
    let umbridge = |config| Integrand::UmBridge {
        url: "http://127.0.0.1:4242".to_string(),
        model: "posterior".to_string(),
        config,
    };
    for (line, want) in [
        (
            "value = \"0.95*exp(-2*x^2)\"",
            Integrand::Value("0.95*exp(-2*x^2)".to_string()),
        ),
        (
            "command = [\"python3\", \"model.py\"]",
            Integrand::Command {
                argv: words(&["python3", "model.py"]),
            },
        ),
        (
            "driver = [\"./run.sh\", \"\"]",
            Integrand::Driver {
                argv: words(&["./run.sh", ""]),
            },
        ),
        (
            "table = \"evaluations.csv\"",
            Integrand::Table {
                path: "evaluations.csv".to_string(),
            },
        ),
        (
            "umbridge = { url = \"http://127.0.0.1:4242\", model = \"posterior\" }",
            umbridge(serde_json::json!({})),
        ),
        (
            "umbridge = { url = \"http://127.0.0.1:4242\", model = \"posterior\", config = { level = 2, tol = 1e-3, tags = [\"a\", true] } }",
            umbridge(serde_json::json!({ "level": 2, "tol": 1e-3, "tags": ["a", true] })),
        ),
    ] {
        assert_eq!(parse(&file(line)).integrand, want);
    }
}

#[test]
fn settings_of_the_integrand() {
    let text = "on_failure = \"retry\"\nretries = 0\ntimeout = 1.5\nnoise = 0\ntable = \"t.csv\"";
    let problem = parse(&file(text));
    assert_eq!(
        (problem.settings.on_failure, problem.settings.retries),
        (OnFailure::Retry, 0)
    );
    assert_eq!(
        (problem.settings.timeout, problem.settings.noise),
        (Some(1.5), Some(0.0))
    );
    let open = file(BANANA).replace("[0, inf] ", "[-inf, +inf] ");
    assert_eq!(parse(&open).settings.range, Range::REAL);
    let unit = file(BANANA).replace("range = [0, inf]", "range = [0, 1]");
    assert_eq!(parse(&unit).settings.range, Range::UNIT);
}

#[test]
fn method_and_budget() {
    let text = file(BANANA)
        .replace("name = \"mmlt\"", "warp = \"log\"\nkernel = \"matern32\"\nfit = \"f\"\nacquisition = \"us\"\nnodes = 1_000\nrefit_every = 5\nbatch = 2")
        .replace("workers = 1", "workers = 8\nseconds = 60\nlog_z_sd = 0.1\naudit = 0.2");
    let problem = parse(&text);
    let method = &problem.method;
    assert_eq!(
        (method.name.as_deref(), method.warp.as_deref()),
        (None, Some("log"))
    );
    assert_eq!(
        (method.kernel.as_deref(), method.fit.as_deref()),
        (Some("matern32"), Some("f"))
    );
    assert_eq!(
        (method.nodes, method.refit_every, method.batch),
        (Some(1000), Some(5), Some(2))
    );
    let budget = &problem.budget;
    assert_eq!(
        (
            budget.seconds,
            budget.log_z_sd,
            budget.audit,
            budget.workers
        ),
        (Some(60.0), Some(0.1), Some(0.2), 8)
    );
    assert_eq!(problem.locate("method.kernel"), Some((11, 10)));
    assert_eq!(problem.locate("parameters.x.uniform"), Some((6, 17)));
    assert_eq!(problem.locate("method.name"), None);
    assert_eq!(problem.error("method.name", "unknown").line, 1);
}

#[test]
fn every_prior_in_both_forms() {
    for (line, numbers) in [
        ("uniform = [-5, 5]", vec![-5.0, 5.0]),
        ("log-uniform = [0.1, 10]", vec![0.1, 10.0]),
        ("normal = [1, 2]", vec![1.0, 2.0]),
        (
            "truncated-normal = [0, 1, 0, inf]",
            vec![0.0, 1.0, 0.0, f64::INFINITY],
        ),
        ("half-normal = [2]", vec![2.0]),
        ("half-normal = 2", vec![2.0]),
        ("log-normal = [0, 1]", vec![0.0, 1.0]),
        ("exponential = [0.5]", vec![0.5]),
        ("gamma = [2, 3]", vec![2.0, 3.0]),
        ("beta = [2, 3]", vec![2.0, 3.0]),
        ("student-t = [3, 0, 1]", vec![3.0, 0.0, 1.0]),
        (
            "truncated-normal = { hi = 5, lo = 0, sd = 1, mean = 0 }",
            vec![0.0, 1.0, 0.0, 5.0],
        ),
    ] {
        let name = line.split(' ').next().unwrap().to_string();
        let text = format!("integrand.log = 'x'\nparameters.x = {{ {line} }}");
        assert_eq!(
            parse(&text).prior,
            PriorSpec::Product(vec![Law::new(&name, &numbers)])
        );
    }
    for entry in crate::measure::REGISTRY {
        // Numbers that every prior takes: increasing and positive.
        let list: Vec<String> = (0..entry.parameters.len())
            .map(|i| format!("{}.5", i + 1))
            .collect();
        let table: Vec<String> = entry
            .parameters
            .iter()
            .zip(&list)
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        let positional = format!(
            "integrand.log = 'x'\n[parameters]\nx = {{ {} = [{}] }}",
            entry.name,
            list.join(", ")
        );
        let named = format!(
            "integrand.log = 'x'\n[parameters.x.{}]\n{}",
            entry.name,
            table.join("\n")
        );
        assert_eq!(parse(&positional).canonical(), parse(&named).canonical());
    }
}

#[test]
fn parameters_keep_the_order_of_the_file() {
    let inline = "[integrand]\ntable = 't'\n[parameters]\nz = { half-normal = 1 }\na = { half-normal = 2 }\nm = { half-normal = 3 }";
    let headed = "[integrand]\ntable = 't'\n[parameters.z]\nhalf-normal = 1\n[parameters.a]\nhalf-normal = 2\n[parameters.m]\nhalf-normal = 3";
    for text in [inline, headed] {
        let problem = parse(text);
        assert_eq!(problem.names, ["z", "a", "m"]);
        let PriorSpec::Product(laws) = &problem.prior else {
            panic!("{text}")
        };
        assert_eq!(
            laws.iter().map(|law| law.numbers[0]).collect::<Vec<_>>(),
            [1.0, 2.0, 3.0]
        );
    }
}

#[test]
fn angles() {
    let text = "integrand.log = 'cos(x)'\nparameters.x = { uniform = [0, 6.5], periodic = true }";
    let problem = parse(text);
    let circle = problem.measure().unwrap().circles().unwrap().each()[0].unwrap();
    assert_eq!((circle.start, circle.period), (0.0, 6.5));
    let kept = problem.canonical()["prior"].to_string();
    assert_eq!(
        kept,
        r#"{"product":[{"periodic":true,"uniform":[0.0,6.5]}]}"#
    );
    // What is not said to be periodic is kept as ever.
    let plain = parse(&text.replace("true", "false"));
    assert_eq!(
        plain.canonical()["prior"].to_string(),
        r#"{"product":[{"uniform":[0.0,6.5]}]}"#
    );
    assert!(plain.measure().unwrap().circles().is_none());
    let refused = |law: &str| {
        let text = format!("integrand.log = 'x'\nparameters.x = {{ {law} }}");
        Problem::parse(&text).unwrap_err().to_string()
    };
    let normal = refused("normal = [0, 1], periodic = true");
    assert!(
        normal.contains("uniform") && normal.contains("into the integrand"),
        "{normal}"
    );
    assert!(refused("uniform = [0, 1], periodic = 3").contains("true or false"));
}

#[test]
fn fixed_numbers_and_vectors() {
    let problem = parse(
        "integrand.log = 'c*x + beta[0]*beta[1]'
         [parameters]
         c = 2
         x = { normal = [0, 1] }
         beta = { uniform = { lo = 0, hi = 3 }, size = 2 }",
    );
    assert_eq!(problem.names, ["x", "beta[0]", "beta[1]"]);
    assert_eq!(problem.arguments.names(), ["c", "x", "beta[0]", "beta[1]"]);
    let uniform = Law::new("uniform", &[0.0, 3.0]);
    let normal = Law::new("normal", &[0.0, 1.0]);
    let laws = PriorSpec::Product(vec![normal, uniform.clone(), uniform]);
    assert_eq!(problem.prior, laws);
    assert_eq!(problem.measure().unwrap().dim(), 3);
    // A run of another fixed number is another run.
    let kept = problem.canonical();
    let arguments = r#"[{"c":{"fixed":2.0}},"x",{"beta":{"size":2}}]"#;
    assert_eq!(kept["arguments"].to_string(), arguments);
    let plain = parse("integrand.log = 'x'\nparameters.x.normal = [0, 1]").canonical();
    assert_eq!(plain.get("arguments"), None);
}

#[test]
fn joint() {
    let problem = parse(
        "[integrand]\nlog = 'a - b'\n[joint]\nnames = ['b', 'a']\nmean = [1, 2]\ncovariance = [[2, 0.5], [0.5, 1]]",
    );
    assert_eq!(problem.names, ["b", "a"]);
    let measure = problem.measure().unwrap();
    assert_eq!(measure.mean(), Some(vec![1.0, 2.0]));
    assert_eq!(measure.covariance(), Some(vec![2.0, 0.5, 0.5, 1.0]));
}

#[test]
fn values_from_outside_and_draws() {
    let text =
        "[integrand]\nexternal = 'python'\n[joint]\nnames = ['a', 'b']\ndraws = [[1, 2], [3, 4]]";
    let problem = parse(text);
    let by = "python".to_string();
    assert_eq!(problem.integrand, Integrand::External { by });
    assert_eq!(problem.measure().unwrap().mean(), Some(vec![2.0, 3.0]));
    let want = "{\"integrand\":{\"external\":\"python\"},\"names\":[\"a\",\"b\"],\
        \"prior\":{\"draws\":[[1.0,2.0],[3.0,4.0]]},\"range\":[0.0,\"inf\"]}";
    assert_eq!(problem.canonical().to_string(), want);
    for (from, to, line, part) in [
        ("[[1, 2], [3, 4]]", "[]", 5, "at least one draw"),
        ("[3, 4]", "[3]", 5, "2 numbers in each draw, got 1"),
        ("[3, 4]", "[3, inf]", 5, "must be finite, got inf"),
        ("[3, 4]", "4", 5, "must be a draw"),
        ("draws", "mean = [0, 0]\ndraws", 5, "stands beside draws"),
        ("'python'", "3", 2, "must be a string"),
    ] {
        let error = refuse(&text.replacen(from, to, 1));
        assert_eq!(error.line, line, "{error}");
        assert!(error.reason.contains(part), "{error}");
    }
}

#[test]
fn without_a_file_an_error_names_its_field_alone() {
    let error = refuse("integrand.log = 'x'\nparameters.x.uniform = [5, -5]").in_file("");
    let want = "parameters.x.uniform: lo must be below hi, got lo = 5 and hi = -5";
    assert_eq!(error.to_string(), want);
    assert_eq!(Error::from(error).to_string(), want);
}

/// A mistake: what to write instead of what, the line and column it is found at, its field, and a
/// part of the reason.
type Mistake = (
    &'static str,
    &'static str,
    (usize, usize),
    &'static str,
    &'static str,
);

// A row stays a row.
#[rustfmt::skip]
const MISTAKES: &[Mistake] = &[
    // The integrand.
    (BANANA, "", (1, 2), "integrand", "has no integrand; add one of log, value"),
    ("range = [0, inf] ", "value = 'x'\nrange = [0, inf] ", (3, 1), "integrand.value", "second integrand beside 'log'"),
    ("log = ", "lgo = ", (2, 1), "integrand.lgo", "unknown name 'lgo'; did you mean 'log'?"),
    ("log = ", "whatever = ", (2, 1), "integrand.whatever", "the fields of [integrand] are log, value"),
    (BANANA, "log = 3", (2, 7), "integrand.log", "must be a string, got a number"),
    (BANANA, "log = ''", (2, 7), "integrand.log", "must not be empty"),
    ("(y - x^2)", "(z - x^2)", (2, 15), "integrand.log", "unknown name 'z'; the parameters are x, y"),
    (BANANA, "log = '''\nx +\n  q'''", (4, 3), "integrand.log", "unknown name 'q'"),
    (BANANA, "log = \"x + \\u0071\"", (2, 7), "integrand.log", "unknown name 'q'"),
    (")^2)/20", ")^2/20", (2, 40), "integrand.log", "closing parenthesis is missing"),
    (BANANA, "command = 'python3 model.py'", (2, 11), "integrand.command", "must be a list of words, like [\"python3\""),
    (BANANA, "command = []", (2, 11), "integrand.command", "got an empty list"),
    (BANANA, "command = ['a', 3]", (2, 17), "integrand.command", "must be a string, got a number"),
    (BANANA, "umbridge = 'http://a'", (2, 12), "integrand.umbridge", "must be a table"),
    (BANANA, "umbridge = { url = 'http://a' }", (2, 1), "integrand.umbridge.model", "is missing"),
    (BANANA, "umbridge = { url = 'a', model = 'b' }", (2, 20), "integrand.umbridge.url", "must start with http://"),
    (BANANA, "umbridge = { ulr = 'a' }", (2, 14), "integrand.umbridge.ulr", "did you mean 'url'?"),
    (BANANA, "umbridge = { url = 'http://a', model = 'b', config = { a = nan } }", (2, 60), "integrand.umbridge.config.a", "must be finite"),
    ("range = [0, inf]", "range = [1, 0]", (3, 9), "integrand.range", "is empty: lo must be below hi, got [1, 0]"),
    ("range = [0, inf]", "range = [1, 1]", (3, 9), "integrand.range", "is empty"),
    ("range = [0, inf]", "range = [nan, 1]", (3, 9), "integrand.range", "is empty"),
    ("range = [0, inf]", "range = [-2, -1]", (3, 9), "integrand.range", "leaves nothing"),
    ("range = [0, inf]", "range = [0]", (3, 9), "integrand.range", "two numbers"),
    ("range = [0, inf]", "range = ['0', 1]", (3, 10), "integrand.range", "must be a number, got a string"),
    ("range = [0, inf]", "on_failure = 'stpo'", (3, 14), "integrand.on_failure", "did you mean 'stop'?"),
    ("range = [0, inf]", "retries = -1", (3, 11), "integrand.retries", "0 or more, got -1"),
    ("range = [0, inf]", "timeout = 0", (3, 11), "integrand.timeout", "must be positive"),
    ("range = [0, inf]", "noise = -0.1", (3, 9), "integrand.noise", "must not be negative"),
    // The parameters.
    ("[-5, 5]", "[5, -5]", (6, 18), "parameters.x.uniform", "lo must be below hi, got lo = 5 and hi = -5"),
    ("[-5, 5]", "[2, 2]", (6, 18), "parameters.x.uniform", "lo must be below hi"),
    ("[-5, 5]", "[-5]", (6, 17), "parameters.x.uniform", "takes 2 numbers [lo, hi], got 1"),
    ("[-5, 5]", "[-5, 5, 6]", (6, 17), "parameters.x.uniform", "takes 2 numbers [lo, hi], got 3"),
    ("[-5, 5]", "[-5, '5']", (6, 22), "parameters.x.uniform", "must be a number, got a string"),
    ("[-5, 5]", "5", (6, 17), "parameters.x.uniform", "must be numbers [lo, hi], got a number"),
    ("[-5, 5]", "[-inf, 5]", (6, 18), "parameters.x.uniform", "lo must be finite"),
    ("[-5, 5]", "[-5, 1e999]", (6, 22), "parameters.x.uniform", "too large"),
    ("[-5, 5]", "{ lo = -5 }", (6, 7), "parameters.x.uniform.hi", "is missing"),
    ("[-5, 5]", "{ lo = 5, hi = -5 }", (6, 24), "parameters.x.uniform", "lo must be below hi"),
    ("[-5, 5]", "{ low = -5, hi = 5 }", (6, 19), "parameters.x.uniform.low", "did you mean 'lo'?"),
    ("{ uniform = ", "{ unifrom = ", (6, 7), "parameters.x.unifrom", "did you mean 'uniform'?"),
    ("{ uniform = ", "{ dirichlet = ", (6, 7), "parameters.x.dirichlet", "the priors are uniform, log-uniform, normal"),
    ("{ uniform = [-5, 5] }", "{ uniform = [-5, 5], normal = [0, 1] }", (6, 1), "parameters.x", "exactly one prior, got 2"),
    ("{ uniform = [-5, 5] }", "{}", (6, 1), "parameters.x", "exactly one prior, got 0"),
    ("{ uniform = [-5, 5] }", "true", (6, 5), "parameters.x", "must be a prior, like { uniform = [-5, 5] }, or a number to fix it, got true or false"),
    ("{ uniform = [-5, 5] }", "inf", (6, 5), "parameters.x", "is fixed at inf, but must be finite"),
    ("[-5, 5] }", "[-5, 5], size = 0 }", (6, 33), "parameters.x.size", "must be a whole number from 1 to 1000"),
    ("[-5, 5] }", "[-5, 5], size = 1.5 }", (6, 33), "parameters.x.size", "must be a whole number from 1 to 1000"),
    ("[-5, 5] }", "[-5, 5], size = 2 }", (2, 19), "integrand.log", "x is a vector: write x[0] and so on"),
    ("{ uniform = [-5, 5] }", "{ size = 2 }", (6, 1), "parameters.x", "exactly one prior, got 0"),
    ("{ normal = [0, 1] }", "{ normal = [0, -1] }", (7, 20), "parameters.y.normal", "sd must be positive"),
    ("x = {", "x-1 = {", (2, 7), "integrand.log", "cannot use the parameter 'x-1'"),
    ("x = {", "w = {", (2, 19), "integrand.log", "unknown name 'x'; the parameters are w, y"),
    // Method and budget.
    ("[method]", "[methods]", (9, 2), "methods", "did you mean 'method'?"),
    ("[method]", "[[method]]", (9, 1), "method", "must be a section [method], got a list"),
    ("[method]", "[plot]", (9, 2), "plot", "the sections are integrand, parameters, joint, prior, method, budget"),
    ("name = ", "nmae = ", (10, 1), "method.nmae", "did you mean 'name'?"),
    ("name = \"mmlt\"", "name = 3", (10, 8), "method.name", "must be a string"),
    ("name = \"mmlt\"", "fit = 'h'", (10, 7), "method.fit", "unknown name 'h'; the choices are f, g, f-loo"),
    ("name = \"mmlt\"", "nodes = 0", (10, 9), "method.nodes", "1 or more, got 0"),
    ("name = \"mmlt\"", "batch = 1.5", (10, 9), "method.batch", "whole number, got 1.5"),
    ("evaluations = 100", "evaluations = -5", (12, 15), "budget.evaluations", "1 or more, got -5"),
    ("evaluations = 100", "evalutions = 5", (12, 1), "budget.evalutions", "did you mean 'evaluations'?"),
    ("evaluations = 100", "seconds = -1", (12, 11), "budget.seconds", "must be positive"),
    ("evaluations = 100", "log_z_sd = inf", (12, 12), "budget.log_z_sd", "must be positive and finite"),
    ("evaluations = 100", "audit = 0", (12, 9), "budget.audit", "must be positive"),
    ("workers = 1", "workers = 0", (13, 11), "budget.workers", "1 or more, got 0"),
    // TOML itself.
    ("name = \"mmlt\"", "name = mmlt", (10, 8), "", "string values must be quoted"),
    ("name = \"mmlt\"", "name = 'a'\nname = 'b'", (11, 1), "", "duplicate key"),
];

#[test]
fn every_mistake_has_its_line() {
    let mut wrong = Vec::new();
    for (from, to, place, field, part) in MISTAKES {
        let text = file(BANANA);
        assert!(text.contains(from), "{from}");
        let error = refuse(&text.replacen(from, to, 1));
        let found = ((error.line, error.column), error.field.as_str());
        if found != (*place, *field) || !error.reason.contains(part) {
            wrong.push(format!("wanted {place:?} {field}: {part}\ngot {error}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn missing_sections_and_joint_mistakes() {
    let joint = "[integrand]\nlog = 'a - b'\n[joint]\nnames = ['a', 'b']\nmean = [1, 2]\ncovariance = [[2, 0.5], [0.5, 1]]";
    let swap = |from: &str, to: &str| joint.replacen(from, to, 1);
    for (text, line, field, part) in [
        (String::new(), 1, "integrand", "is missing"),
        (
            "integrand = 3".to_string(),
            1,
            "integrand",
            "must be a section [integrand]",
        ),
        (
            "[integrand]\nlog = '1'\n".to_string(),
            2,
            "parameters",
            "is missing; add a section",
        ),
        (
            "[integrand]\nlog = '1'\n[parameters]\n".to_string(),
            3,
            "parameters",
            "has no parameter",
        ),
        (
            "[integrand]\nlog = '1'\n[parameters]\nc = 2".to_string(),
            3,
            "parameters",
            "has no parameter with a prior",
        ),
        (
            "[integrand]\nlog = '1'\n[parameters]\n'b[0]' = 2\nb = { normal = [0, 1], size = 2 }"
                .to_string(),
            3,
            "parameters",
            "has 'b[0]' twice",
        ),
        (
            format!("{joint}\n[parameters]\nx = {{ normal = [0, 1] }}"),
            3,
            "joint",
            "beside [parameters]",
        ),
        (swap("['a', 'b']", "[]"), 4, "joint.names", "at least one"),
        (
            swap("['a', 'b']", "['a', 'a']"),
            4,
            "joint.names",
            "'a' stands here twice",
        ),
        (
            swap("names", "nmaes"),
            4,
            "joint.nmaes",
            "did you mean 'names'?",
        ),
        (
            swap("mean = [1, 2]", "mean = [1]"),
            5,
            "joint.mean",
            "must have 2 numbers",
        ),
        (
            swap("mean = [1, 2]", "mean = [1, nan]"),
            5,
            "joint.mean",
            "must be finite",
        ),
        (swap("mean = [1, 2]", ""), 3, "joint.mean", "is missing"),
        (
            swap("[2, 0.5], ", ""),
            6,
            "joint.covariance",
            "must have 2 rows",
        ),
        (
            swap("[2, 0.5]", "[2]"),
            6,
            "joint.covariance",
            "2 numbers in each row",
        ),
        (
            swap("[2, 0.5]", "[2, 0.6]"),
            6,
            "joint.covariance",
            "not symmetric",
        ),
        (
            swap("[2, 0.5]", "[0.25, 0.5]"),
            6,
            "joint.covariance",
            "not positive definite",
        ),
    ] {
        let error = refuse(&text);
        assert_eq!((error.line, error.field.as_str()), (line, field), "{error}");
        assert!(error.reason.contains(part), "{error}");
    }
}

#[test]
fn an_error_shows_the_line_with_a_caret() {
    let error = refuse("[integrand]\nlog = \"é + z\"\n[parameters]\nx = { uniform = [-5, 5] }\n")
        .in_file("a.toml");
    let want = "a.toml:2:8: integrand.log: unknown name 'é'; the parameter is x\n  log = \"é + z\"\n         ^";
    assert_eq!(error.to_string(), want);
    assert_eq!(Error::from(error).to_string(), want);
    let tab =
        refuse("[integrand]\n\ttimeout = 0\n\ttable = 't'\n[parameters]\nx = { half-normal = 1 }");
    assert!(
        tab.to_string()
            .ends_with("\n  \ttimeout = 0\n  \t          ^"),
        "{tab}"
    );
    let syntax = refuse("[integrand\n");
    assert!(
        syntax.to_string().starts_with("problem.toml:1:11: "),
        "{syntax}"
    );
}

#[test]
fn canonical_says_what_matters_and_no_more() {
    let text = file(BANANA);
    let canonical = parse(&text).canonical();
    let want = "{\"integrand\":{\"log\":\"-(100*(y - x^2)^2 + (1 - x)^2)/20\"},\"names\":[\"x\",\"y\"],\
        \"prior\":{\"product\":[{\"uniform\":[-5.0,5.0]},{\"normal\":[0.0,1.0]}]},\"range\":[0.0,\"inf\"]}";
    assert_eq!(canonical.to_string(), want);
    for (from, to) in [
        ("100      ", "200"),
        ("mmlt", "bmc"),
        ("[0, 1] }", "[-0.0, 1.0] }"),
        ("range = [0, inf]", "retries = 7"),
    ] {
        assert_eq!(
            parse(&text.replacen(from, to, 1)).canonical(),
            canonical,
            "{to}"
        );
    }
    for (from, to) in [
        ("100*", "99*"),
        ("[-5, 5]", "[-5, 6]"),
        ("[0, inf] ", "[0, 9] "),
        ("normal", "log-normal"),
    ] {
        assert_ne!(
            parse(&text.replacen(from, to, 1)).canonical(),
            canonical,
            "{to}"
        );
    }
    let swapped = text
        .replace("x = { uniform = [-5, 5] }", "")
        .replace("y = {", "x = { uniform = [-5, 5] }\ny = {");
    assert_eq!(parse(&swapped).canonical(), canonical);
    let order = text
        .replace("x = { uniform = [-5, 5] }\n", "")
        .replace("\n[method]", "x = { uniform = [-5, 5] }\n[method]");
    assert_ne!(parse(&order).canonical(), canonical);
}

#[test]
fn the_examples_parse() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("examples") {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end == "toml") {
            let text = std::fs::read_to_string(&path).unwrap();
            let problem = Problem::parse(&text)
                .unwrap_or_else(|error| panic!("{}", error.in_file(path.to_string_lossy())));
            problem.measure().unwrap();
            count += 1;
        }
    }
    assert!(count >= 5);
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        if let Err(error) = Problem::parse(&text) {
            prop_assert!(error.line >= 1 && error.column >= 1 && !error.to_string().is_empty());
        }
    }

    #[test]
    fn a_damaged_file_is_read_or_refused(at in 0_usize..400, length in 0_usize..30, with in "[\\PC\n\"'{}\\[\\]=.,#0-9a-z -]{0,8}") {
        let text: Vec<char> = file(BANANA).chars().collect();
        let at = at.min(text.len());
        let end = (at + length).min(text.len());
        let damaged: String = text[..at].iter().copied().chain(with.chars()).chain(text[end..].iter().copied()).collect();
        if let Err(error) = Problem::parse(&damaged) {
            prop_assert!(!error.to_string().is_empty());
        }
    }

    #[test]
    fn any_value_anywhere_is_read_or_refused(
        section in "integrand|parameters|joint|method|budget",
        field in "log|value|command|umbridge|range|retries|x|names|mean|covariance|nodes|workers",
        value in "-?[0-9]{1,40}|[0-9]e[0-9]{3}|inf|nan|true|'[a-z(]{0,5}'|\\[\\]|\\[\\[\\]\\]|\\{\\}|\\{ normal = [0-9] \\}|1979-05-27|0x[0-9a-f]{1,40}",
    ) {
        let text = format!("{}\n", file(BANANA)).replace(&format!("[{section}]"), &format!("[{section}]\n{field} = {value}"));
        let _ = Problem::parse(&text);
    }
}

#[test]
fn numbers_that_no_machine_has_room_for_are_refused() {
    let text = "integrand.log = '-x^2'\nparameters.x.normal = [0, 1]\n";
    for (field, words) in [
        ("budget.workers = 1025", "must be at most 1024, got 1025"),
        (
            "method.nodes = 9223372036854775807",
            "must be at most 1048576",
        ),
        ("method.particles = 1000001", "must be at most 1000000"),
        ("method.batch = 4096", "must be at most 1024"),
        (
            "integrand.timeout = 1e19",
            "must be at most 1000000000 seconds",
        ),
    ] {
        let error = Problem::parse(&format!("{text}{field}\n")).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    }
    assert!(Problem::parse(&format!("{text}budget.workers = 1024\n")).is_ok());
}

#[test]
fn a_tuning_is_numbers_by_the_names_of_its_fields() {
    let text = "integrand.log = '-x^2'\nparameters.x.normal = [0, 1]\n";
    let problem = |line: &str| Problem::parse(&format!("{text}[method.tuning]\n{line}\n"));
    let tuned = problem("tails_sd = [1, 2.5]\naxes_nodes = 300").unwrap();
    let session = Session::new(tuned, text, 0).unwrap();
    let tuning = session.method().unwrap().tuning().unwrap();
    assert_eq!(tuning.tails_sd, [1.0, 2.5]);
    assert_eq!(tuning.axes_nodes, 300);
    for (line, column, words) in [
        (
            "tail_sd = 1",
            1,
            "did you mean 'tails_sd'? the fields are choice_headroom_nats",
        ),
        ("axes_nodes = 1.5", 14, "must be one whole number from 1"),
        (
            "axes_nodes = 'many'",
            14,
            "must be a number or a list of numbers, got a string",
        ),
        ("tails_sd = [1, inf]", 12, "must be finite, got inf"),
    ] {
        let error = problem(line).unwrap_err();
        assert_eq!((error.line, error.column), (4, column), "{error}");
        assert!(error.reason.contains(words), "{error}");
    }
}

#[test]
fn a_tuning_is_kept_in_the_journal_and_refused_where_there_is_none() {
    let text = "integrand.log = '-x^2'\nparameters.x.normal = [0, 1]\n";
    let begin = |lines: &str| {
        let file = format!("{text}{lines}");
        Session::new(Problem::parse(&file).unwrap(), &file, 0)
    };
    let session = begin("method.tuning.tails_sd = [1, 2.5]\n").unwrap();
    let again = Session::from_lines(&session.to_lines()).unwrap();
    assert_eq!(again.method(), session.method());
    assert_eq!(
        again.method_json()["tuning"]["tails_sd"].to_string(),
        "[1.0,2.5]"
    );
    assert_eq!(begin("").unwrap().method_json().get("tuning"), None);
    for name in ["smc", "bmc"] {
        let lines = format!("method.name = '{name}'\nmethod.tuning.nugget = 1e-5\n");
        let error = begin(&lines).unwrap_err().to_string();
        let reason = format!("method.tuning: {name} has no tuning: it is auto's");
        assert!(error.contains(&reason), "{error}");
    }
}

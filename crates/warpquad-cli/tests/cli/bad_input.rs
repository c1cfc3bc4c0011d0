//! Bad problem files point at the line; unknown names list the known ones; nothing panics.

use crate::common::*;

const GOOD: &str = "[integrand]\nlog = \"-x^2\"\nrange = [0, inf]\n[parameters]\nx = { uniform = [-5, 5] }\n\
                    [method]\nname = \"mmlt\"\nkernel = \"matern32\"\n[budget]\nevaluations = 9\n";

#[test]
fn a_mistake_in_the_file_points_at_its_line() {
    let dir = directory("bad");
    for (from, to, place, words) in [
        ("-x^2", "-z^2", ":2:", "z"),
        ("-x^2", "-x^", ":2:", ""),
        ("log =", "lgo =", ":2:", "lgo"),
        (
            "log = \"-x^2\"",
            "log = \"-x^2\"\nvalue = \"x\"",
            ":3:",
            "one",
        ),
        ("[0, inf]", "[1, 1]", ":3:", ""),
        (
            "uniform = [-5, 5]",
            "uniform = [5, -5]",
            ":5:",
            "lo must be below hi",
        ),
        ("uniform = [-5, 5]", "unifrom = [-5, 5]", ":5:", "uniform"),
        ("uniform = [-5, 5]", "uniform = [5]", ":5:", ""),
        ("x = { uniform = [-5, 5] }\n", "", ":4:", ""),
        (
            "\"mmlt\"",
            "\"mlt\"",
            ":7:",
            "there are auto, bmc, wsabi-l, wsabi-m, wsabi-m-g, mmlt, mmlt-literal, mmlt-g, probit, probit-g",
        ),
        ("\"matern32\"", "\"matern\"", ":8:", "matern52"),
        ("\"matern32\"", "\"matern32\"\nwarp = \"lgo\"", ":9:", "log"),
        (
            "\"matern32\"",
            "\"matern32\"\nacquisition = \"x\"",
            ":9:",
            "uncertainty",
        ),
        (
            "\"mmlt\"",
            "\"probit\"",
            ":3:",
            "cannot come from the probit warp",
        ),
        ("evaluations = 9", "evaluations = 0", ":10:", ""),
        ("evaluations = 9", "evalations = 9", ":10:", "evaluations"),
        ("[budget]", "[budgets]", ":9:", "budget"),
        ("[parameters]", "[parameters", ":4:", ""),
    ] {
        let text = GOOD.replace(from, to);
        assert_ne!(text, GOOD);
        let problem = write(&dir, "bad.toml", &text);
        let place = format!("bad.toml{place}");
        for mut command in [warpquad(&["integrate", "--json"]), warpquad(&["check"])] {
            done(command.arg(&problem)).refuses(1, &["warpquad: ", &place, words]);
        }
        let mut ask = warpquad(&["ask"]);
        ask.arg(dir.join("run")).arg("--problem").arg(&problem);
        done(&mut ask).refuses(1, &[&place]);
        assert!(!dir.join("run").exists(), "{to}");
    }
    let good = write(&dir, "good.toml", GOOD);
    done(warpquad(&["integrate", "--quiet"]).arg(&good)).exits(0);
}

#[test]
fn usage_errors_are_code_2_and_files_that_are_not_there_are_named() {
    for args in [
        &["integrat"][..],
        &["integrate"],
        &["integrate", "p.toml", "--budget", "0"],
        &["ask", "run", "-n", "x"],
        &[],
    ] {
        let done = done(&mut warpquad(args)).exits(2);
        assert!(done.stdout.is_empty() && !done.stderr.is_empty());
    }
    done(&mut warpquad(&["integrate", "no-such.toml"])).refuses(1, &["no-such.toml: No such file"]);
    let dir = directory("bad-method");
    let problem = write(&dir, "problem.toml", GOOD);
    let mut command = warpquad(&["integrate", "--method", "mlt"]);
    done(command.arg(&problem)).refuses(1, &["unknown method 'mlt'; there are auto, bmc"]);
    // A place where no run can be made.
    let mut command = integrate(&problem, &problem.join("run"), &[]);
    done(&mut command).refuses(1, &["Not a directory"]);
}

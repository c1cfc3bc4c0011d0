//! Compare models by their evidence.

use crate::common::*;

#[test]
fn two_runs_are_compared_with_their_uncertainty() {
    let dir = directory("compare");
    let narrow = write(&dir, "narrow.toml", GAUSSIAN);
    // ln Z = -ln(1 + 4) / 2 for a prior of twice the width.
    let wide = write(&dir, "wide.toml", &GAUSSIAN.replace("[0, 1]", "[0, 2]"));
    let (a, b) = (dir.join("a"), dir.join("b"));
    for (problem, run) in [(&narrow, &a), (&wide, &b)] {
        done(&mut integrate(problem, run, &["--budget", "20"])).exits(0);
    }
    let json = done(warpquad(&["compare", "--json"]).arg(&a).arg(&b))
        .exits(0)
        .json();
    let models = json["models"].as_array().unwrap();
    let number = |i: usize, key: &str| models[i][key].as_f64().unwrap();
    assert_eq!(number(0, "log_bayes_factor"), 0.0);
    let truth = 0.5 * (2.0_f64 / 5.0).ln();
    assert!((number(1, "log_bayes_factor") - truth).abs() < 0.05);
    assert!(number(1, "log_bayes_factor_sd") > 0.0);
    let sum = number(0, "probability") + number(1, "probability");
    assert!((sum - 1.0).abs() < 0.01, "{sum}");
    let expected = 1.0 / (1.0 + truth.exp());
    assert!((number(0, "probability") - expected).abs() < 0.02);
    let interval = &models[0]["probability_interval"];
    let (low, high) = (interval[0].as_f64().unwrap(), interval[1].as_f64().unwrap());
    assert!(low < number(0, "probability") && number(0, "probability") < high);
    let table = done(warpquad(&["compare"]).arg(&a).arg(&b)).exits(0).stdout;
    assert!(
        table.contains("log Bayes factor") && table.contains("+- ") && table.contains('['),
        "{table}"
    );
    assert_eq!(table.lines().count(), 4);
    done(warpquad(&["compare"]).arg(&a)).refuses(2, &["2 values required"]);
}

#[test]
fn models_are_set_side_by_side_on_a_page() {
    let dir = directory("compare-page");
    let narrow = write(&dir, "narrow.toml", GAUSSIAN);
    let wide = write(&dir, "wide.toml", &GAUSSIAN.replace("[0, 1]", "[0, 2]"));
    let (a, b) = (dir.join("narrow"), dir.join("wide"));
    for (problem, run) in [(&narrow, &a), (&wide, &b)] {
        done(&mut integrate(problem, run, &["--quiet", "--budget", "12"])).exits(0);
    }
    let page = dir.join("page.html");
    let words = ["compare", "--html", page.to_str().unwrap()];
    done(warpquad(&words).arg(&a).arg(&b)).exits(0);
    let text = std::fs::read_to_string(&page).unwrap();
    for part in [
        "Bayes factors are against narrow",
        "figure-evidences",
        "figure-marginals-x",
        "wide",
    ] {
        assert!(text.contains(part), "{part}");
    }
}

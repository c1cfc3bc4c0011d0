//! Put the answer into words for a paper, and name the parts of what is known.

use crate::findings::Findings;
use crate::words::{REACH, decimals, fixed};
use serde_json::Value as Json;
use warpquad::session::count;

/// log Z in words; `None` where there is no log of Z.
pub struct Words {
    /// As a headline: log Z with its sd, or Z where f is no likelihood.
    pub headline: String,
    /// A sentence for a paper.
    pub sentence: String,
    /// The same in LaTeX, with the method.
    pub latex: String,
    /// The other one of the two: Z itself where f is of order one, or log Z.
    pub other: Option<String>,
}

/// Nats from 0 within which Z itself is worth a line: e^7 is about a thousand.
const ORDER_ONE: f64 = 7.0;

/// The answer in words.
pub fn words(found: &Findings) -> Option<Words> {
    let report = &found.report;
    let number = |json: &Json| json.as_f64();
    let n = report["evaluations"].as_u64()? as usize;
    let method = report["method"]["name"].as_str().unwrap_or("auto");
    let version = report["version"].as_str().unwrap_or("");
    let seed = report["seed"].as_u64().unwrap_or(0);
    let by = format!(
        "We computed it with warpquad {version} (method \\texttt{{{method}}}, seed {seed}), which integrates by \
         Bayesian quadrature with warped Gaussian processes~\\citep{{chai2019,warpquad}}"
    );
    let (mean, mean_sd) = (number(&report["z"]), number(&report["z_sd"]));
    let Some(((log_z, sd), (low, high))) = number(&report["log_z"])
        .zip(number(&report["log_z_sd"]))
        .zip(number(&report["log_z_interval"][0]).zip(number(&report["log_z_interval"][1])))
    else {
        // Z of either sign has no logarithm.
        let (mean, sd) = mean.zip(mean_sd)?;
        let d = decimals(sd);
        return Some(Words {
            headline: format!("Z = {} ± {}", fixed(mean, d), fixed(sd, d)),
            sentence: format!(
                "The average of f over the prior is Z = {} ± {} (one standard deviation), with the 95 % \
                 credible interval from {} to {}, from {}.",
                fixed(mean, d),
                fixed(sd, d),
                fixed(mean - REACH * sd, d),
                fixed(mean + REACH * sd, d),
                count(n, "evaluation")
            ),
            latex: format!(
                "The average of $f$ over the prior is $Z = {mean:.d$} \\pm {sd:.d$}$ from {} of $f$. {by}.",
                count(n, "evaluation")
            ),
            other: None,
        });
    };
    let d = decimals(sd);
    let ln_z = format!("log Z = {} ± {}", fixed(log_z, d), fixed(sd, d));
    let z = mean.zip(mean_sd).filter(|_| log_z.abs() < ORDER_ONE);
    if let Some((mean, sd)) = z.filter(|_| !found.in_logs) {
        // Values of f, and not of its log: a rate, say, of which Z is the mean.
        let d = decimals(sd);
        let [z, sd, low, high] = [mean, sd, low.exp(), high.exp()].map(|x| fixed(x, d));
        return Some(Words {
            headline: format!("Z = {z} ± {sd}"),
            sentence: format!(
                "The average of f over the prior is Z = {z} ± {sd} (one standard deviation), with the 95 % \
                 credible interval from {low} to {high}, from {}.",
                count(n, "evaluation")
            ),
            latex: format!(
                "The average of $f$ over the prior is $Z = {} \\pm {}$ (95\\,\\% credible interval \
                 $[{}, {}]$) from {} of $f$. {by}.",
                plain(&z),
                plain(&sd),
                plain(&low),
                plain(&high),
                count(n, "evaluation")
            ),
            other: Some(ln_z),
        });
    }
    Some(Words {
        headline: ln_z,
        sentence: format!(
            "The log evidence is ln Z = {} ± {} (one standard deviation), with the 95 % credible interval from {} \
             to {}, from {} of the likelihood.",
            fixed(log_z, d),
            fixed(sd, d),
            fixed(low, d),
            fixed(high, d),
            count(n, "evaluation")
        ),
        latex: format!(
            "The log evidence is $\\ln Z = {log_z:.d$} \\pm {sd:.d$}$ (95\\,\\% credible interval \
             $[{low:.d$}, {high:.d$}]$) from {} of the likelihood. {by}.",
            count(n, "evaluation")
        ),
        other: z.map(|(mean, sd)| {
            let d = decimals(sd);
            format!("Z = {} ± {}", fixed(mean, d), fixed(sd, d))
        }),
    })
}

/// A number as LaTeX takes it.
fn plain(number: &str) -> String {
    number.replace('−', "-")
}

/// BibTeX entries of the program and of the paper whose method it implements.
pub fn bibtex(found: &Findings) -> String {
    let version = found.report["version"]
        .as_str()
        .unwrap_or(env!("CARGO_PKG_VERSION"));
    format!(
        "@software{{warpquad,\n  author = {{{{The warpquad authors}}}},\n  title = {{warpquad: integrals of expensive, \
         constrained functions from few evaluations}},\n  version = {{{version}}}\n}}\n\
         @inproceedings{{chai2019,\n  author = {{Chai, Henry R. and Garnett, Roman}},\n  title = {{Improving \
         Quadrature for Constrained Integrands}},\n  booktitle = {{Proceedings of the 22nd International Conference on \
         Artificial Intelligence and Statistics}},\n  series = {{Proceedings of Machine Learning Research}},\n  \
         volume = {{89}},\n  year = {{2019}}\n}}"
    )
}

/// What stopped the run, in words.
pub fn stop(found: &Findings) -> String {
    // The journal has what was spent. The budget may have been another one than the problem file's.
    let n = found.evaluated();
    let given_up = found.failures.iter().filter(|one| one.is_given_up).count();
    match found.stop.as_str() {
        "evaluations" => format!(
            "The budget was spent: {}.",
            count(n + given_up, "evaluation")
        ),
        "seconds" => format!(
            "The budget of time was spent after {}.",
            count(n, "evaluation")
        ),
        "log_z_sd" => {
            "The target was met: log Z is known as well as was asked, and stays there.".into()
        }
        "interrupted" => format!("It was interrupted after {}.", count(n, "evaluation")),
        "failure" => {
            "The integrand failed, and the run stopped there; see the failures below.".into()
        }
        "table" => "All rows of the table were taken.".into(),
        "running" => format!("It is running: {} so far.", count(n, "evaluation")),
        "unfinished" => format!(
            "It is unfinished: {} so far, and no process works on it. Start it again to go on.",
            count(n, "evaluation")
        ),
        other => format!("It was stopped by {other}."),
    }
}

/// A point of a list with a code: why a run is or is not settled.
pub struct Reason {
    /// A word for programs.
    pub code: String,
    /// A sentence for people.
    pub sentence: String,
}

/// The verdict and its reasons, if the report has them.
pub fn verdict(found: &Findings) -> (Option<String>, Vec<Reason>) {
    let word = found.report["verdict"].as_str().map(str::to_string);
    let text = |json: &Json| json.as_str().unwrap_or("").to_string();
    let reasons = found.report["reasons"].as_array();
    let reasons = reasons.into_iter().flatten().map(|reason| Reason {
        code: text(&reason["code"]),
        sentence: text(&reason["sentence"]),
    });
    (word, reasons.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_answer_has_as_many_digits_as_its_error() {
        let found = Findings {
            report: json!({
                "log_z": -3.46312, "log_z_sd": 0.0123, "log_z_interval": [-3.488, -3.4382], "evaluations": 1,
                "z": 0.03133, "z_sd": 0.0004, "version": "1.2.3", "seed": 7, "method": {"name": "auto"},
            }),
            in_logs: true,
            ..Findings::default()
        };
        let words = words(&found).unwrap();
        assert_eq!(words.headline, "log Z = −3.463 ± 0.012");
        assert!(
            words
                .sentence
                .ends_with("from −3.488 to −3.438, from 1 evaluation of the likelihood.")
        );
        assert!(words.latex.contains("warpquad 1.2.3") && words.latex.contains("seed 7"));
        assert_eq!(words.other.as_deref(), Some("Z = 0.03133 ± 0.00040"));
    }

    #[test]
    fn an_average_of_f_comes_before_its_log() {
        let found = Findings {
            report: json!({
                "log_z": -0.8558, "log_z_sd": 0.0011, "log_z_interval": [-0.858, -0.8536], "evaluations": 30,
                "z": 0.42494, "z_sd": 0.00047,
            }),
            ..Findings::default()
        };
        let words = words(&found).unwrap();
        assert_eq!(words.headline, "Z = 0.42494 ± 0.00047");
        assert_eq!(words.other.as_deref(), Some("log Z = −0.8558 ± 0.0011"));
        assert!(
            words
                .sentence
                .contains("from 0.42401 to 0.42588, from 30 evaluations")
        );
        assert!(words.latex.contains("$[0.42401, 0.42588]$") && !words.latex.contains("evidence"));
    }

    #[test]
    fn a_signed_integral_has_no_log() {
        let found = Findings {
            report: json!({"log_z": null, "z": -0.5, "z_sd": 0.01, "evaluations": 20}),
            ..Findings::default()
        };
        assert_eq!(words(&found).unwrap().headline, "Z = −0.500 ± 0.010");
    }

    #[test]
    fn the_verdict_is_the_reports_own() {
        assert!(verdict(&Findings::default()).0.is_none());
        let report =
            json!({"verdict": "unsettled", "reasons": [{"code": "few", "sentence": "Too few."}]});
        let found = Findings {
            report,
            ..Findings::default()
        };
        let (word, reasons) = verdict(&found);
        assert_eq!(
            (word.as_deref(), reasons[0].sentence.as_str()),
            (Some("unsettled"), "Too few.")
        );
    }
}

//! Draw what each kind of models says of log Z, beside the answer and the audit.

use super::Figure;
use super::ink::{BLUE, ORANGE, TEXT};
use super::rows::{Row, picture};
use crate::findings::Findings;
use crate::words::REACH;
use plotters::prelude::RGBColor;
use warpquad::Result;

/// The figure; `None` without models or without a log of Z.
pub fn draw(found: &Findings) -> Result<Option<Figure>> {
    let rows = rows(found);
    if rows.len() < 2 {
        return Ok(None);
    }
    let (svg, hover) = picture(&rows)?;
    Ok(Some(Figure {
        name: "models",
        title: "What each model says of log Z".into(),
        alt: format!("log Z with its 95 % interval: {}.", hover.labels.join("; ")),
        caption: "log Z with its 95 % interval: the answer, the audit if there was one, and each kind of \
                  models by itself with its weight. A kind's own is worked out from fewer nodes, for which its \
                  interval makes room."
            .into(),
        svg,
        least_width: 360,
        hover,
    }))
}

fn rows(found: &Findings) -> Vec<Row> {
    let mut out = Vec::new();
    let number = |json: &serde_json::Value| json.as_f64();
    let report = &found.report;
    let interval = &report["log_z_interval"];
    let answer = number(&report["log_z"])
        .zip(number(&interval[0]))
        .zip(number(&interval[1]));
    if let Some(((log_z, low), high)) = answer {
        out.push(Row {
            name: "the answer".into(),
            log_z,
            low,
            high,
            colour: TEXT,
        });
    }
    let mut normal = |name: String, log_z: Option<f64>, sd: Option<f64>, colour: RGBColor| {
        if let Some((log_z, sd)) = log_z.zip(sd) {
            out.push(Row {
                name,
                log_z,
                low: log_z - REACH * sd,
                high: log_z + REACH * sd,
                colour,
            });
        }
    };
    let audit = &report["audit"];
    let (log_z, sd) = (number(&audit["log_z"]), number(&audit["log_z_sd"]));
    normal("the audit".into(), log_z, sd, ORANGE);
    for kind in found.trust.iter().flat_map(|trust| &trust.kinds) {
        let name = format!("{:.0} %: {}", 100.0 * kind.weight, kind.label);
        normal(name, kind.log_z, kind.log_z_sd, BLUE);
    }
    out
}

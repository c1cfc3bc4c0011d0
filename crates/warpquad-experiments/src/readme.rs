//! Keep `README.md` of the results' folder: a section an experiment, in the paper's order.

use crate::experiment::io;
use crate::wrap::wrap;
use crate::{Context, Experiment, Finding, REGISTRY};
use std::path::PathBuf;
use warpquad::{Error, Result};

fn path(context: &Context<'_>) -> PathBuf {
    context.out.join("README.md")
}

/// The opening, which says what the folder holds.
fn opening(context: &Context<'_>) -> String {
    wrap(&format!(
        "# The paper, reproduced\n\nMade by `warpquad reproduce`, {} run, seed {}.\n\n\
         The paper is Chai and Garnett, \"Improving Quadrature for Constrained Integrands\", \
         AISTATS 2019. Each section \
         says what the paper shows, what this program gets, and why they differ where they do.\n",
        context.scope, context.seed
    ))
}

fn read(context: &Context<'_>) -> Result<Option<String>> {
    match std::fs::read_to_string(path(context)) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io(&path(context), error)),
    }
}

/// Refuse a folder that holds something else.
pub fn check(context: &Context<'_>) -> Result<()> {
    match read(context)? {
        Some(text) if !wrap(&text).starts_with(&opening(context)) => {
            let made = text
                .lines()
                .find(|line| line.starts_with("Made by"))
                .unwrap_or("a README of another kind");
            let reason = format!(
                "the folder holds other results ({}), which a {} run with seed {} would mix with; \
                 choose another folder",
                made.trim_end_matches('.'),
                context.scope,
                context.seed
            );
            Err(Error::spec(
                format!("--out {}", context.out.display()),
                reason,
            ))
        }
        _ => Ok(()),
    }
}

/// Put an experiment's section in its place, the other sections as they were.
pub fn put(context: &Context<'_>, experiment: &Experiment, finding: &Finding) -> Result<()> {
    let old = read(context)?.unwrap_or_default();
    let mut text = opening(context);
    for member in REGISTRY {
        let section = if member.name == experiment.name {
            Some(section(member, finding))
        } else {
            existing(&old, member)
        };
        if let Some(section) = section {
            text.push_str(&format!("\n{}\n", section.trim_end()));
        }
    }
    context.write("README.md", &wrap(&text)).map(|_| ())
}

fn heading(experiment: &Experiment) -> String {
    format!("## {}: {}", experiment.name, experiment.summary)
}

fn section(experiment: &Experiment, finding: &Finding) -> String {
    let links: Vec<String> = finding
        .files
        .iter()
        .map(|file| format!("[{file}]({file})"))
        .collect();
    let pictures = finding.files.iter().filter(|file| file.ends_with(".svg"));
    let pictures: String = pictures
        .map(|file| format!("\n![{}]({file})\n", experiment.summary))
        .collect();
    format!(
        "{}\n{pictures}\n{}\n\nFiles: {}.\n",
        heading(experiment),
        finding.paragraph.trim(),
        links.join(", ")
    )
}

/// The experiment's section in an older README.
fn existing(text: &str, experiment: &Experiment) -> Option<String> {
    let start = text.find(&format!("\n## {}: ", experiment.name))? + 1;
    let end = text[start..]
        .find("\n## ")
        .map_or(text.len(), |at| start + at);
    Some(text[start..end].to_string())
}

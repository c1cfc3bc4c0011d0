//! Keep the pages of the results' folder: what the claims came to, and behind it a section an
//! experiment, in the paper's order.

use crate::experiment::io;
use crate::wrap::wrap;
use crate::{Context, Experiment, Finding, REGISTRY, claims};
use std::path::PathBuf;
use warpquad::{Error, Result};

/// A page of sections.
struct Page {
    file: &'static str,
    title: &'static str,
}

const TABLES: Page = Page {
    file: "tables.md",
    title: "The paper, reproduced: the long tables",
};

const MISPRINTS: Page = Page {
    file: "misprints.md",
    title: "The paper's moments, and its misprints",
};

fn page_of(experiment: &Experiment) -> &'static Page {
    match experiment.name {
        "table1" => &MISPRINTS,
        _ => &TABLES,
    }
}

const README: &str = "README.md";

fn path(context: &Context<'_>, file: &str) -> PathBuf {
    context.out.join(file)
}

fn opening(context: &Context<'_>, title: &str) -> String {
    let made = format!(
        "Made by `warpquad reproduce`, {} run, seed {}.",
        context.scope, context.seed
    );
    wrap(&format!(
        "# {title}\n\n{made}\n\nThe paper is Chai and Garnett, \"Improving Quadrature for \
         Constrained Integrands\", AISTATS 2019.\n"
    ))
}

fn read(context: &Context<'_>, file: &str) -> Result<Option<String>> {
    let path = path(context, file);
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io(&path, error)),
    }
}

/// Refuse a folder that holds something else.
pub fn check(context: &Context<'_>) -> Result<()> {
    let Some(text) = read(context, README)? else {
        return Ok(());
    };
    let made = |text: &str| {
        text.lines()
            .find(|l| l.starts_with("Made by"))
            .map(str::to_string)
    };
    let found = made(&text);
    if found.is_some() && found == made(&opening(context, "")) {
        return Ok(());
    }
    let found = found.unwrap_or_else(|| "a README of another kind".into());
    let reason = format!(
        "the folder holds other results ({}), which a {} run with seed {} would mix with; choose \
         another folder",
        found.trim_end_matches('.'),
        context.scope,
        context.seed
    );
    let field = format!("--out {}", context.out.display());
    Err(Error::spec(field, reason))
}

/// Put an experiment's section in its place, the other sections as they were, and write the page of
/// claims from the files that are there.
pub fn put(context: &Context<'_>, experiment: &Experiment, finding: &Finding) -> Result<()> {
    let page = page_of(experiment);
    let old = read(context, page.file)?.unwrap_or_default();
    let mut text = opening(context, page.title);
    for member in REGISTRY
        .iter()
        .filter(|member| page_of(member).file == page.file)
    {
        let section = if member.name == experiment.name {
            Some(section(member, finding))
        } else {
            existing(&old, member)
        };
        if let Some(section) = section {
            text.push_str(&format!("\n{}\n", section.trim_end()));
        }
    }
    context.write(page.file, &wrap(&text))?;
    front(context)
}

/// Write the page that comes first.
fn front(context: &Context<'_>) -> Result<()> {
    let mut text = opening(context, "The paper, reproduced");
    if context.quick() {
        text.push_str("\nThis is the quick version: read it for directions only.\n");
    } else {
        let claims = claims::filled(&|file| read(context, file).ok().flatten());
        text.push_str(&format!("\n{claims}"));
    }
    text.push_str("\n## Behind this page\n\n");
    for page in [TABLES, MISPRINTS] {
        if read(context, page.file)?.is_some() {
            text.push_str(&format!("* [{}]({})\n", page.title, page.file));
        }
    }
    context.write(README, &wrap(&text)).map(|_| ())
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

/// The experiment's section in an older page.
fn existing(text: &str, experiment: &Experiment) -> Option<String> {
    let start = text.find(&format!("\n## {}: ", experiment.name))? + 1;
    let end = text[start..]
        .find("\n## ")
        .map_or(text.len(), |at| start + at);
    Some(text[start..end].to_string())
}

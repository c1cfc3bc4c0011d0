//! Read the sections of a problem file.

use super::reader::{self, Item, Section};
use super::{Integrand, Problem, SpecError, constraints, prior, start};
use crate::session::arguments::Arguments;
use crate::session::expression::{self, Expression};
use crate::session::options::{self, Entry};
use crate::session::suggest;

type Result<T> = std::result::Result<T, SpecError>;

const SECTIONS: &[&str] = &[
    "integrand",
    "parameters",
    "joint",
    "prior",
    "method",
    "budget",
    "start",
];

/// The keys of `[integrand]` of which a file has exactly one.
const INTEGRANDS: &[&str] = &[
    "log", "value", "command", "driver", "umbridge", "table", "external",
];

/// Read a whole problem file.
pub(super) fn problem(source: &str) -> Result<Problem> {
    let table = reader::document(source)?;
    let top = Section::top(source, table.get_ref());
    let at_top: Vec<&Entry> = options::Section::Top.options().collect();
    top.only(&[SECTIONS, &names(&at_top)].concat(), "sections")?;
    let Some(item) = top.get("integrand") else {
        return Err(top.missing("integrand", "is missing; add a section [integrand]"));
    };
    let integrand_section = item.section("a section [integrand]")?;
    // First the integrand's own mistakes, which stand first in the file; its formula needs the
    // names.
    let chosen = choose(&integrand_section)?;
    let (arguments, prior) = prior::prior(&top)?;
    let integrand = integrand(chosen, &arguments)?;
    let mut problem = Problem::new(integrand, arguments.coordinates(), prior);
    problem.arguments = arguments;
    let settings: Vec<&Entry> = options::Section::Integrand.options().collect();
    read(&integrand_section, &settings, &mut problem)?;
    check_settings(&integrand_section, &problem)?;
    read(&top, &at_top, &mut problem)?;
    section(&top, options::Section::Prior, &mut problem)?;
    let prior = top.get("prior").and_then(Item::as_section);
    let constraints = prior.as_ref().and_then(|prior| prior.get("constraints"));
    constraints::check(constraints, &problem)?;
    section(&top, options::Section::Method, &mut problem)?;
    section(&top, options::Section::Budget, &mut problem)?;
    problem.start = start::start(&top, &problem)?;
    let mut places = Vec::new();
    top.places(&mut places);
    problem.places = places.into_iter().collect();
    problem.source = source.to_string();
    Ok(problem)
}

/// Read a problem file that may have no integrand.
pub(super) fn prior_alone(source: &str) -> Result<Problem> {
    let table = reader::document(source)?;
    let has_integrand = Section::top(source, table.get_ref())
        .get("integrand")
        .is_some();
    match has_integrand {
        true => problem(source),
        // At its end it moves no line.
        false => problem(&format!("{source}\n[integrand]\nexternal = \"prior\"\n")),
    }
}

/// The one key that says what the integrand is.
fn choose<'s, 'a>(section: &'s Section<'a>) -> Result<&'s Item<'a>> {
    let settings: Vec<&Entry> = options::Section::Integrand.options().collect();
    let known = [INTEGRANDS, &names(&settings)].concat();
    section.only(&known, "fields of [integrand]")?;
    let is_integrand = |item: &&Item| INTEGRANDS.contains(&item.name.as_str());
    let mut chosen = section.items.iter().filter(is_integrand);
    let Some(first) = chosen.next() else {
        let known = INTEGRANDS.join(", ");
        return Err(section.error(format!("has no integrand; add one of {known}")));
    };
    match chosen.next() {
        Some(second) => {
            let reason = format!("is a second integrand beside '{}'; keep one", first.name);
            Err(second.error_at_name(reason))
        }
        None => Ok(first),
    }
}

fn integrand(item: &Item, arguments: &Arguments) -> Result<Integrand> {
    let program = "a list of words, like [\"python3\", \"model.py\"]";
    Ok(match item.name.as_str() {
        "log" => Integrand::Log(formula(item, arguments)?),
        "value" => Integrand::Value(formula(item, arguments)?),
        "command" => Integrand::Command {
            argv: item.texts(program)?,
        },
        "driver" => Integrand::Driver {
            argv: item.texts(program)?,
        },
        "umbridge" => umbridge(&item.section("a table { url = ..., model = ... }")?)?,
        "external" => Integrand::External { by: item.text()? },
        _ => Integrand::Table { path: item.text()? },
    })
}

/// A formula that can be read with these arguments.
fn formula(item: &Item, arguments: &Arguments) -> Result<String> {
    let text = item.text()?;
    let mut names = arguments.iter().map(|argument| argument.name.as_str());
    if let Some(name) = names.find(|name| !expression::is_name(name)) {
        let reason = format!(
            "cannot use the parameter '{name}': in a formula a name is made of letters, digits and underscores, a letter first"
        );
        return Err(item.error(reason));
    }
    match Expression::parse(&text, &arguments.names()) {
        Ok(_) => Ok(text),
        Err(error) => Err(match error.position {
            Some(position) => item.error_inside(position, error.reason),
            None => item.error(error.reason),
        }),
    }
}

fn umbridge(section: &Section) -> Result<Integrand> {
    section.only(&["url", "model", "config"], "fields of umbridge")?;
    let item = section.require("url")?;
    let url = item.text()?;
    if !(url.starts_with("http://") || url.starts_with("https://")) {
        return Err(item.error(format!("must start with http:// or https://, got '{url}'")));
    }
    let model = section.require("model")?.text()?;
    let config = match section.get("config") {
        Some(item) => {
            item.section("a table")?;
            item.json()?
        }
        None => serde_json::Value::Object(Default::default()),
    };
    Ok(Integrand::UmBridge { url, model, config })
}

/// Give a problem what a section says of these options.
fn read(section: &Section, options: &[&Entry], problem: &mut Problem) -> Result<()> {
    for option in options {
        if let Some(item) = section.get(option.name) {
            let setting = item.setting()?;
            let put = option.put(problem, &setting);
            put.map_err(|wrong| item.wrong(&wrong))?;
        }
    }
    Ok(())
}

/// What a section of options alone says.
fn section(top: &Section, which: options::Section, problem: &mut Problem) -> Result<()> {
    let name = which.name();
    let Some(item) = top.get(name) else {
        return Ok(());
    };
    let section = item.section(&format!("a section [{name}]"))?;
    let entries: Vec<&Entry> = which.options().collect();
    section.only(&names(&entries), &format!("fields of [{name}]"))?;
    read(&section, &entries, problem)
}

fn names<'a>(entries: &[&'a Entry]) -> Vec<&'a str> {
    entries.iter().map(|entry| entry.name).collect()
}

/// Refuse settings that do not go with the integrand or the parameters.
fn check_settings(section: &Section, problem: &Problem) -> Result<()> {
    let hi = problem.settings.range.hi;
    if let (Some(item), Integrand::Log(_)) = (section.get("range"), &problem.integrand)
        && hi <= 0.0
    {
        let reason =
            format!("leaves nothing: f = exp(log) is positive, and the range ends at {hi}");
        return Err(item.error(reason));
    }
    let known: Vec<&str> = problem.names.iter().map(String::as_str).collect();
    let mut mapped = problem.settings.mapped.iter();
    if let (Some(item), Some(name)) = (
        section.get("mapped"),
        mapped.find(|name| !known.contains(&name.as_str())),
    ) {
        return Err(item.error(suggest::unknown(name, &known, "parameters")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::options::{Kind, Setting};

    /// An option that is a table inside `[method]`; its width is kept where nodes are.
    const SHAPE: Entry = Entry {
        name: "shape",
        kind: Kind::Fields {
            all: || vec!["width", "height"],
            check: |_, _| Ok(()),
        },
        set: |problem, setting| {
            let Setting::Table(fields) = setting else {
                return false;
            };
            let width = fields.iter().find(|(name, _)| name == "width");
            problem.method.nodes = width
                .and_then(|(_, value)| value.number())
                .map(|w| w as usize);
            true
        },
        ..*options::TABLE.first().unwrap()
    };

    fn parse(text: &str) -> Result<Problem> {
        let table = reader::document(text)?;
        let top = Section::top(text, table.get_ref());
        let section = top.require("method")?.section("a section")?;
        let mut problem = Problem::blank();
        read(&section, &[&SHAPE], &mut problem)?;
        Ok(problem)
    }

    #[test]
    fn a_table_of_fields_is_an_option() {
        let problem = parse("[method]\nname = 'auto'\n[method.shape]\nwidth = 3\nheight = 0.5");
        assert_eq!(problem.unwrap().method.nodes, Some(3));
        let inline = parse("[method]\nshape = { width = 4 }");
        assert_eq!(inline.unwrap().method.nodes, Some(4));
    }

    #[test]
    fn every_mistake_in_a_table_of_fields_has_its_line() {
        for (line, place, part) in [
            (
                "widht = 3",
                (2, 1),
                "did you mean 'width'? the fields are width, height",
            ),
            (
                "width = '3'",
                (2, 9),
                "must be a number or a list of numbers, got a string",
            ),
            ("height = inf", (2, 10), "must be finite, got inf"),
        ] {
            let error = parse(&format!("[method.shape]\n{line}")).unwrap_err();
            assert_eq!((error.line, error.column), place, "{error}");
            assert!(error.reason.contains(part), "{error}");
        }
        let error = parse("[method]\nshape = 3").unwrap_err();
        assert_eq!(error.reason, "must be a table of numbers, got a number");
    }
}

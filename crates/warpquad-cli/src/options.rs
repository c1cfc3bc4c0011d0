//! Turn the table of options into flags.

use clap::{
    Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches, builder::ValueParser,
};
use warpquad::Result;
use warpquad::session::options::{Entry, Kind, Reach, Section, Setting, TABLE};
use warpquad::session::spec::Problem;

/// The options that flags set.
#[derive(Debug)]
pub struct Options(Vec<Given>);

/// An option, what the flags say of it, and their words.
#[derive(Debug)]
struct Given {
    option: &'static Entry,
    setting: Setting,
    words: Vec<String>,
}

impl Options {
    /// Put the command line's word over the file's.
    pub fn put(&self, problem: &mut Problem) -> Result<()> {
        let mut given = self.0.iter();
        given.try_for_each(|one| problem.put(one.option, &one.setting, &one.option.flag()))
    }

    /// The flags that were given, each with its word.
    pub fn words(&self) -> impl Iterator<Item = (String, &String)> {
        let flags = |one: &'static Entry| move |word| (one.flag(), word);
        self.0
            .iter()
            .flat_map(move |one| one.words.iter().map(flags(one.option)))
    }
}

/// The options that are flags.
fn flags() -> impl Iterator<Item = &'static Entry> {
    TABLE.iter().filter(|option| option.reach != Reach::File)
}

impl Args for Options {
    fn augment_args(command: Command) -> Command {
        command.args(flags().map(arg))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Options::augment_args(command)
    }
}

impl FromArgMatches for Options {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Options, Error> {
        let given = flags().filter_map(|option| {
            let settings = matches.get_many::<Setting>(option.keyword)?.cloned();
            let words = matches.get_raw(option.keyword)?;
            Some(Given {
                option,
                setting: option.kind.together(settings)?,
                words: words.map(|word| word.to_string_lossy().into()).collect(),
            })
        });
        Ok(Options(given.collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> std::result::Result<(), Error> {
        *self = Options::from_arg_matches(matches)?;
        Ok(())
    }
}

fn arg(option: &'static Entry) -> Arg {
    let arg = Arg::new(option.keyword)
        .long(option.keyword.replace('_', "-"))
        .value_name(option.value)
        .value_parser(ValueParser::new(|word: &str| read(option, word)))
        .help(option.help)
        .help_heading(heading(option.section))
        .action(match option.kind.repeats() {
            true => ArgAction::Append,
            false => ArgAction::Set,
        });
    match option.kind {
        Kind::Interval => arg.allow_hyphen_values(true),
        _ => arg.allow_negative_numbers(true),
    }
}

fn read(option: &Entry, word: &str) -> std::result::Result<Setting, String> {
    let setting = option.kind.of_text(word)?;
    match option.kind.check(&setting) {
        Ok(()) => Ok(setting),
        Err(wrong) => Err(wrong.full()),
    }
}

fn heading(section: Section) -> String {
    match section {
        Section::Top => "In place of the file's".into(),
        section => format!("In place of the file's [{}]", section.name()),
    }
}

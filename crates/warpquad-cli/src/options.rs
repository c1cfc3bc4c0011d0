//! Turn the table of options into flags.

use clap::{
    Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches, builder::ValueParser,
};
use warpquad::Result;
use warpquad::session::options::{Entry, Kind, Reach, Section, Setting, TABLE};
use warpquad::session::spec::Problem;

/// The options that flags set.
#[derive(Debug)]
pub struct Options(Vec<(&'static Entry, Setting)>);

impl Options {
    /// Put the command line's word over the file's.
    pub fn put(&self, problem: &mut Problem) -> Result<()> {
        let mut options = self.0.iter();
        options.try_for_each(|(option, setting)| problem.put(option, setting, &option.flag()))
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
            let words = matches.get_many::<Setting>(option.keyword)?.cloned();
            Some((option, option.kind.together(words)?))
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

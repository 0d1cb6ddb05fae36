//! `hop completions`: a script that teaches a shell the commands and options of `hop`.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::failure::Failure;
use crate::screen::Screen;

const EXAMPLES: &str = "\
Examples:
  hop completions bash > ~/.local/share/bash-completion/completions/hop
  hop completions fish > ~/.config/fish/completions/hop.fish";

/// Print completions for a shell
///
/// The script goes to standard output; put it where the shell looks for such scripts.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(args: &Args, screen: &mut Screen) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut crate::Cli::command(), "hop", &mut script);
    Ok(std::io::Write::write_all(screen, &script)?)
}

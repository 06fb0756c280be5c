//! The `qa-pilot` binary: everything is in the library.

fn main() -> std::process::ExitCode {
    qa_pilot::cli::main().into()
}

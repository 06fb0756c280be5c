//! What must hold before anything runs: each case that will run is approved, evidence that stays on the machine stays out
//! of version control, and on production every spec is on the guard. A profile that is not committed, and off production a
//! spec that is not on the guard, are told.

use super::selection::Selection;
use crate::files::FileError;
use crate::host::cases::Cases;
use crate::host::profile::{EnvKind, Environment, Profile};
use crate::host::spec_sha::{SpecError, Specs};
use crate::host::statuses::Statuses;
use crate::model::CaseId;
use crate::publish::{Standing, Verdicts};
use crate::yaml::YamlError;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Why nothing runs. Each names the mend.
#[derive(Debug, thiserror::Error)]
pub enum PreflightError {
    /// The statuses file.
    #[error(transparent)]
    Yaml(#[from] YamlError),
    /// The feature's specs.json.
    #[error(transparent)]
    Specs(#[from] SpecError),
    /// A spec that must be on the guard cannot be read.
    #[error("{0}; every spec of a production run is looked at before")]
    Unreadable(FileError),
    /// No case is approved.
    #[error("no case of `{feature}` may run ({}); approve one for execution in {}", .why.join("; "), .statuses.display())]
    Nothing {
        /// The feature.
        feature: String,
        /// Each case's reason.
        why: Vec<String>,
        /// Where statuses are.
        statuses: PathBuf,
    },
    /// Evidence would be committed.
    #[error(
        "{path} is not ignored by git, and evidence of `{env}` stays on this machine; add `testing/*/runs/` to .gitignore"
    )]
    Tracked {
        /// The run directories.
        path: String,
        /// The environment.
        env: String,
    },
    /// Git does not say whether evidence would be committed.
    #[error("cannot find out whether git ignores {path} ({reason}), and `{env}` is production")]
    Git {
        /// The run directories.
        path: String,
        /// What happened.
        reason: String,
        /// The environment.
        env: String,
    },
    /// A spec without the guard.
    #[error(
        "{} imports no write-guard.ts of this version, and `{env}` is production; `qa-pilot init` writes it, and specs import `test` from it by a relative path",
        .spec.display()
    )]
    Unguarded {
        /// The spec.
        spec: PathBuf,
        /// The environment.
        env: String,
    },
}

/// What is looked at.
pub(super) struct Inputs<'a> {
    pub profile: &'a Profile,
    pub profile_path: &'a Path,
    pub environment: &'a Environment,
    pub env_name: &'a str,
    pub cases: &'a Cases,
    pub statuses_path: &'a Path,
    pub specs: Specs<'a>,
    pub include_quarantined: bool,
}

/// Looks at everything, and says which cases run.
///
/// # Errors
/// On the first thing that must be mended.
pub(super) fn check(inputs: &Inputs<'_>) -> Result<(Selection, Vec<String>), PreflightError> {
    let statuses = Statuses::today(inputs.statuses_path)?;
    let standing = Standing::of(
        inputs.cases,
        &statuses,
        &inputs.profile.statuses,
        &Verdicts::default(),
        inputs.include_quarantined,
    );
    let selection = Selection::of(inputs.cases, &standing);
    if selection.ids.is_empty() {
        return Err(PreflightError::Nothing {
            feature: inputs.specs.feature.to_owned(),
            why: selection.left_out,
            statuses: inputs.statuses_path.to_owned(),
        });
    }
    let mut notes = Vec::new();
    if !selection.left_out.is_empty() {
        notes.push(format!("not run: {}", selection.left_out.join("; ")));
    }
    notes.extend(uncommitted(inputs));
    if inputs.profile.effective_upload(inputs.environment).is_pinned() {
        ignored(inputs, &mut notes)?;
    }
    let is_production = inputs.environment.kind == EnvKind::Production;
    for id in &selection.ids {
        match (guarded(inputs, id), is_production) {
            (Err(error), true) => return Err(error),
            (Err(PreflightError::Unguarded { spec, .. }), false) => notes.push(format!(
                "{} imports no write-guard.ts of this version; without it nothing shows what its tests write (`qa-pilot init` writes it)",
                spec.display()
            )),
            // Where a spec lies by another name than the rule's, the run itself tells whether it was guarded.
            (Ok(()) | Err(_), _) => {}
        }
    }
    if let (true, Some(account)) = (is_production, &inputs.environment.test_account) {
        notes.push(format!("production: the tests must sign in as {account}"));
    }
    Ok((selection, notes))
}

/// A note when git knows of changes to the profile that nobody committed: what the run was judged by is then in no
/// history. Outside a repository, and where git does not answer, there is none to tell.
fn uncommitted(inputs: &Inputs<'_>) -> Option<String> {
    let told = in_repository(inputs.specs.root)?
        .args(["status", "--porcelain", "--untracked-files=all", "--"])
        .arg(inputs.profile_path)
        .output()
        .ok()?;
    (told.status.success() && !told.stdout.is_empty()).then(|| {
        let name = inputs.profile_path.file_name().unwrap_or_default().to_string_lossy();
        format!("{name} has changes that are not committed, so nobody can look up later what this run was judged by")
    })
}

/// Git, asked about a folder; none where the folder is in no repository.
fn in_repository(folder: &Path) -> Option<Command> {
    if !folder.ancestors().any(|folder| folder.join(".git").exists()) {
        return None;
    }
    let mut git = Command::new("git");
    // A repository of somebody else's is asked as well: nothing in it is run or written.
    git.args(["-c", "safe.directory=*", "-c", "core.fsmonitor=false", "--no-optional-locks", "-C"])
        .arg(folder)
        .stdin(Stdio::null());
    Some(git)
}

/// Run directories must stay out of version control. Outside a repository nothing can be committed.
fn ignored(inputs: &Inputs<'_>, notes: &mut Vec<String>) -> Result<(), PreflightError> {
    let Some(mut git) = in_repository(inputs.specs.root) else {
        return Ok(());
    };
    let path = format!("testing/{}/runs/", inputs.specs.feature);
    let env = inputs.env_name.to_owned();
    let asked = git.args(["check-ignore", "-q", "--"]).arg(format!("{path}x")).output();
    let reason = match asked {
        Ok(output) => match output.status.code() {
            Some(0) => return Ok(()),
            Some(1) => return Err(PreflightError::Tracked { path, env }),
            _ => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        },
        Err(error) => error.to_string(),
    };
    if inputs.environment.kind == EnvKind::Production {
        return Err(PreflightError::Git { path, reason, env });
    }
    notes.push(format!("cannot find out whether git ignores {path}: {reason}"));
    Ok(())
}

fn guarded(inputs: &Inputs<'_>, id: &CaseId) -> Result<(), PreflightError> {
    let spec = inputs.specs.spec(id)?;
    match inputs.specs.imports_generated(&spec) {
        Ok(true) => Ok(()),
        Ok(false) => Err(PreflightError::Unguarded { spec, env: inputs.env_name.to_owned() }),
        Err(error) => Err(PreflightError::Unreadable(error)),
    }
}

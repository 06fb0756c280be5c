//! The gate's decision as GitHub workflow commands: an annotation a finding.

use crate::gate::{Decision, Finding};

/// One `::error` a refusal, one `::warning` a warning.
pub fn decision(decision: &Decision) -> String {
    let (refusals, warnings) = match decision {
        Ok(approved) => (&[][..], approved.warnings()),
        Err(refused) => (refused.refusals.as_slice(), refused.warnings.as_slice()),
    };
    let errors = refusals.iter().map(|finding| annotation("error", finding));
    errors.chain(warnings.iter().map(|finding| annotation("warning", finding))).collect()
}

fn annotation(level: &str, finding: &Finding) -> String {
    let message = data(&format!("{} ({})", finding.message, finding.subject));
    format!("::{level} title={}::{message}\n", property(finding.code))
}

/// A command's message: a raw line break would end the command, a percent sign begins an escape.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A command's property, in which a colon and a comma mean something too.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::Refused;

    #[test]
    fn nothing_in_a_finding_starts_a_command_of_its_own() {
        let finding = Finding {
            code: "rule 3",
            subject: "cases[A-B-001]".to_owned(),
            message: "100% \n::error::x".to_owned(),
        };
        let text = decision(&Err(Refused { refusals: vec![finding.clone()], warnings: vec![finding] }));
        assert_eq!(
            text,
            "::error title=rule 3::100%25 %0A::error::x (cases[A-B-001])\n\
             ::warning title=rule 3::100%25 %0A::error::x (cases[A-B-001])\n"
        );
    }
}

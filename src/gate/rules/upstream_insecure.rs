//! On production the guard must know that it spoke to production.

use super::{Facts, Findings, Rule};

pub(super) const RULE: Rule = Rule {
    code: "upstream_insecure",
    description: "On production the certificate of every host was verified",
    mend: "Run again without --upstream-insecure; name a private authority with --upstream-ca",
    check,
};

fn check(facts: &Facts, findings: &mut Findings) {
    // Metadata that cannot be read is refused elsewhere.
    let Ok(meta) = &facts.disk.meta else { return };
    if facts.is_production() && !meta.upstream_insecure.is_empty() {
        let hosts = meta.upstream_insecure.join(", ");
        findings.refuse("meta.json", format!("the run did not verify the certificates of {hosts}"));
    }
}

//! Rule 1: what was enforced is what was declared. The declaration is the cases file and nothing else.

use serde_json::Value;

use super::super::claim::Entry;
use super::{Facts, Findings, Rule};
use crate::model::PolicyKind;

pub(super) const RULE: Rule = Rule {
    code: "rule 1",
    description: "The policy that the run enforced is the one that the cases file declares; on production it is not unrestricted",
    mend: "Pass the feature's own --cases; mend its mutation block, or run again under it",
    check,
};

fn check(facts: &Facts, findings: &mut Findings) {
    let Some(fact) = &facts.cases else {
        findings.refuse("--cases", "--cases is required");
        return;
    };
    let Some(cases) = &fact.cases else {
        findings.refuse("--cases", "the cases file is no mapping: it declares nothing");
        return;
    };
    let feature = facts.claim.text("feature").unwrap_or_default();
    if cases.feature.as_deref() != Some(feature) {
        let declared = cases.feature.as_deref().unwrap_or("no feature");
        findings.refuse("feature", format!("the cases file is of {declared}, and the report of {feature}"));
    }
    for fault in &fact.faults {
        findings.refuse("--cases", fault.to_string());
    }
    let prefix = cases.prefix.as_deref();
    let said = |value: Option<&Value>| value.map_or_else(|| "null".to_owned(), ToString::to_string);
    let policy = facts.claim.get("mutation_policy");
    if policy.and_then(Value::as_str) != Some(cases.policy.as_str()) {
        findings.refuse(
            "mutation_policy",
            format!("is {}, and the cases file declares {}", said(policy), cases.policy),
        );
    }
    let claimed = facts.claim.get("mutation_prefix");
    if !is_text(claimed, prefix) {
        let message =
            format!("is {}, and the cases file declares {}", said(claimed), prefix.unwrap_or("none"));
        findings.refuse("mutation_prefix", message);
    }
    for (key, why) in [
        ("mutation_policy", facts.relabelled("mutation_policy")),
        ("mutation_prefix", facts.relabelled("mutation_prefix")),
    ] {
        if let Some(why) = why {
            findings.refuse(key, why);
        }
    }
    for entry in facts.claim.entries() {
        records_of(entry, cases.policy, prefix, findings);
    }
    if facts.is_production() && cases.policy == PolicyKind::Unrestricted {
        findings.refuse("mutation.policy", "an unrestricted feature never publishes from production");
    }
}

fn records_of(entry: Entry<'_>, policy: PolicyKind, prefix: Option<&str>, findings: &mut Findings) {
    let Some(writes) = entry.get("writes") else { return };
    let field = |key| writes.get(key).filter(|value: &&Value| !value.is_null());
    let recorded = field("policy").and_then(Value::as_str);
    if recorded != Some(policy.as_str()) {
        let recorded = recorded.unwrap_or("no common policy");
        findings.refuse(
            entry.place(),
            format!("its records say {recorded}, and the cases file declares {policy}"),
        );
    }
    if !is_text(field("prefix"), prefix) {
        let declared = prefix.unwrap_or("none");
        findings.refuse(
            entry.place(),
            format!("its records have another prefix than the declared one ({declared})"),
        );
    }
}

/// Whether a value is this text; none equals only none.
fn is_text(value: Option<&Value>, text: Option<&str>) -> bool {
    match (value, text) {
        (None, None) => true,
        (Some(value), Some(text)) => value.as_str() == Some(text),
        _ => false,
    }
}

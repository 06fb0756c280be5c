//! The operations of a GraphQL document (GraphQL, October 2021, section 2.3), by a parser with bounds: a document that nests
//! deeper or is longer than any in earnest is refused instead of read.

use crate::policy::signature::GraphqlKind;
use apollo_parser::Parser;
use apollo_parser::cst::{CstNode, Definition};

/// How deep selections and values may nest.
const MAX_DEPTH: usize = 200;

/// How many tokens a document may have.
const MAX_TOKENS: usize = 50_000;

/// One operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Operation {
    pub(super) name: Option<String>,
    pub(super) kind: GraphqlKind,
}

/// Every operation of the document.
///
/// # Errors
/// Why it is no document that a server would execute, as a part of a sentence.
pub(super) fn operations(text: &str) -> Result<Vec<Operation>, String> {
    let tree = Parser::new(text).recursion_limit(MAX_DEPTH).token_limit(MAX_TOKENS).parse();
    if let Some(error) = tree.errors().next() {
        let message: String = error.message().chars().take(80).collect();
        return Err(format!("the GraphQL document does not parse: {message}"));
    }
    let mut found = Vec::new();
    for definition in tree.document().definitions() {
        match definition {
            Definition::FragmentDefinition(_) => {}
            Definition::OperationDefinition(operation) => {
                let kind = match operation.operation_type() {
                    None => GraphqlKind::Query,
                    Some(kind) if kind.query_token().is_some() => GraphqlKind::Query,
                    Some(kind) if kind.mutation_token().is_some() => GraphqlKind::Mutation,
                    Some(kind) if kind.subscription_token().is_some() => GraphqlKind::Subscription,
                    Some(_) => return Err("the GraphQL document has an operation of no known kind".into()),
                };
                let name = operation.name().and_then(|name| name.syntax().first_token());
                found.push(Operation { name: name.map(|name| name.text().to_owned()), kind });
            }
            _ => return Err("the GraphQL document defines types".into()),
        }
    }
    if found.is_empty() {
        return Err("the GraphQL document has no operation".into());
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn kinds(text: &str) -> Vec<(Option<String>, &'static str)> {
        operations(text).unwrap().into_iter().map(|one| (one.name, one.kind.as_str())).collect()
    }

    #[test]
    fn kinds_and_names() {
        assert_eq!(kinds("{ a }"), [(None, "query")]);
        assert_eq!(
            kinds(
                "query A($x: [Int!]! = [1] @d) @e(f: {g: \"}\"}) { a } mutation B { b } fragment F on T { c } subscription { d }"
            ),
            [(Some("A".into()), "query"), (Some("B".into()), "mutation"), (None, "subscription")]
        );
        for read in [
            "{ a(b: \"mutation { c }\") }",
            "{ a(b: \"\"\"mutation { \\\"\"\" c }\"\"\") }",
            "# mutation { a }\n{ a }",
            ",,\u{feff}query mutation { mutation }",
            "{ a(b: \"\\\" } mutation { \\\"\") }",
        ] {
            assert!(kinds(read).iter().all(|(_, kind)| *kind == "query"), "{read}");
        }
        for write in
            ["#{ a }\rmutation { a }", "{ a } #\n mutation { b }", "\t\u{feff}mutation{a}", "mutation,{a}"]
        {
            assert!(kinds(write).iter().any(|(_, kind)| *kind == "mutation"), "{write}");
        }
    }

    #[test]
    fn what_no_server_would_execute_is_refused() {
        for text in [
            "",
            " ",
            "{",
            "{ a } }",
            "{ a } ; mutation { b }",
            "mutatio { a }",
            "Mutation { a }",
            "{ a(b: \"x) }",
            "fragment F on T { a }",
            "type T { a: Int } { a }",
            "{}",
            "\0{a}",
            "mutation%7Ba%7D",
        ] {
            assert!(operations(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn neither_depth_nor_length_costs_more_than_the_bounds() {
        let deep = |n: usize| format!("{}a{}", "{a".repeat(n), "}".repeat(n));
        assert!(operations(&deep(50)).is_ok());
        for text in [
            deep(1_000_000),
            format!("{{a(b:{}1{})}}", "[".repeat(500_000), "]".repeat(500_000)),
            format!("query($a:{}Int{}){{a}}", "[".repeat(500_000), "]".repeat(500_000)),
            "{ a }".repeat(1_000_000),
            ")".repeat(1_000_000),
        ] {
            assert!(operations(&text).is_err());
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(text in "(query|mutation|\\{|\\}|\\(|\\)|\"|\"\"\"|#|\n|:|\\$|@|\\.\\.\\.|on|a|!|\\[|.){0,40}") {
            let _ = operations(&text);
        }
    }
}

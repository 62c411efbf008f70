//! A page of HTML, read as strictly as the specification's syntax for authors is (WHATWG HTML,
//! §13.1): every element that is opened is closed, in order; every attribute is quoted.

use std::collections::BTreeSet;

const VOID: [&str; 6] = ["meta", "link", "br", "hr", "img", "input"];

#[derive(Debug, Default)]
pub struct Page {
    pub ids: BTreeSet<String>,
    /// What `href` and `src` say.
    pub links: Vec<String>,
    /// What other attributes refer to by id.
    pub references: Vec<String>,
    /// Every element's name, in order.
    pub elements: Vec<String>,
    /// Names of all attributes.
    pub attributes: BTreeSet<String>,
}

impl Page {
    #[track_caller]
    pub fn parse(name: &str, text: &str) -> Self {
        let mut page = Self::default();
        let mut open: Vec<String> = Vec::new();
        let body =
            text.strip_prefix("<!DOCTYPE html>").unwrap_or_else(|| panic!("{name}: doctype"));
        for part in body.split('<').skip(1) {
            let (tag, after) = part.split_once('>').unwrap_or_else(|| panic!("{name}: `<{part}`"));
            assert!(!after.contains('>'), "{name}: a bare > in `{after}`");
            if let Some(closed) = tag.strip_prefix('/') {
                assert_eq!(open.pop().as_deref(), Some(closed), "{name}: closed out of order");
                continue;
            }
            let (element, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
            page.elements.push(element.to_owned());
            page.read_attributes(name, attributes);
            if !VOID.contains(&element) {
                open.push(element.to_owned());
            }
        }
        assert_eq!(open, [] as [&str; 0], "{name}: left open");
        page
    }

    #[track_caller]
    fn read_attributes(&mut self, name: &str, attributes: &str) {
        let mut rest = attributes.trim();
        while !rest.is_empty() {
            let (attribute, after) =
                rest.split_once("=\"").unwrap_or_else(|| panic!("{name}: `{rest}` is unquoted"));
            let (value, after) =
                after.split_once('"').unwrap_or_else(|| panic!("{name}: `{after}` is unquoted"));
            match attribute {
                "id" => assert!(self.ids.insert(value.to_owned()), "{name}: two ids {value}"),
                "href" | "src" => self.links.push(value.to_owned()),
                "aria-labelledby" | "aria-describedby" => self.references.push(value.to_owned()),
                _ => {}
            }
            self.attributes.insert(attribute.to_owned());
            rest = after.trim_start();
        }
    }

    pub fn count(&self, element: &str) -> usize {
        self.elements.iter().filter(|name| *name == element).count()
    }
}

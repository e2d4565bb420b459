use gelu_learner::activation::NamedActivation;

/// Returns an activation's name for readers; for a formula, only its name. An unknown activation is returned
/// unchanged.
pub fn label(name: &str) -> String {
    NamedActivation::read(name).label().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_names_get_their_label_and_others_stay() {
        assert_eq!(label("gelu-tanh"), "GELU (tanh)");
        assert_eq!(label("mine"), "mine");
        assert_eq!(label("mine=x*tanh(x)"), "mine");
    }
}

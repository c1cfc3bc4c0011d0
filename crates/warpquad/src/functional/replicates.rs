//! Estimate the error of a node rule from its independent replicates.

use crate::measure::{StudentT, Univariate};
use crate::numeric::special::normal_quantile;

/// The standard error of the mean of independent estimates.
///
/// A mean of n of them follows Student's t, whose variance is (n - 1) / (n - 3) of a normal one's.
/// One estimate alone says nothing of its error: 0.
pub(crate) fn standard_error(each: &[f64]) -> f64 {
    let n = each.len() as f64;
    if each.len() < 2 {
        return 0.0;
    }
    let mean = each.iter().sum::<f64>() / n;
    let squares: f64 = each.iter().map(|e| (e - mean).powi(2)).sum();
    let student = (n - 1.0) / (n - 3.0).max(1.0);
    (student * squares / (n * (n - 1.0))).sqrt()
}

/// The quantile of an error in units of its [standard error](standard_error), which few estimates
/// know: that of Student's t, which has longer tails than a normal of the same variance.
pub(crate) fn quantile_of_error(p: f64, estimates: usize) -> f64 {
    let n = estimates as f64;
    let student = StudentT::new(n - 1.0, 0.0, 1.0);
    match student {
        Ok(student) if estimates > 3 => student.quantile(p) / ((n - 1.0) / (n - 3.0)).sqrt(),
        _ => normal_quantile(p),
    }
}

/// The standard error of the ratio of two means on the same replicates, each given in parts of its
/// own mean.
pub(crate) fn error_between(parts: &[f64], others: &[f64]) -> f64 {
    let gaps: Vec<f64> = parts.iter().zip(others).map(|(a, b)| a - b).collect();
    standard_error(&gaps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_estimates_have_longer_tails() {
        // t with 7 degrees of freedom: 2.364624 at 97.5 % and 5.407883 at 99.95 %.
        let unit = (7.0_f64 / 5.0).sqrt();
        assert!((quantile_of_error(0.975, 8) - 2.364_624 / unit).abs() < 1e-5);
        assert!((quantile_of_error(0.9995, 8) - 5.407_883 / unit).abs() < 1e-5);
        assert_eq!(quantile_of_error(0.975, 1), normal_quantile(0.975));
    }

    #[test]
    fn the_error_is_that_of_the_textbook_with_students_variance() {
        // The mean is 2.05 and the squared deviations sum to 0.05; t with 3 degrees has variance 3.
        let error = (3.0 * 0.05_f64 / 12.0).sqrt();
        assert!((standard_error(&[2.0, 2.2, 1.9, 2.1]) - error).abs() < 1e-15);
        assert_eq!(standard_error(&[2.0]), 0.0);
        assert_eq!(error_between(&[0.9, 1.1], &[0.9, 1.1]), 0.0);
    }
}

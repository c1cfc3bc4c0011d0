/* Two models behind the C interface that BridgeStan 2.9 compiles a Stan program to, as its
 * documentation records it. The sources of Stan's compiler are on no package registry, so the tests
 * run the real Python package over this library.
 *
 * "line":    mu ~ normal(0, 2); vector<lower=0>[2] s ~ exponential(2); y ~ normal(mu, 1), 4 data.
 * "simplex": simplex[2] p ~ dirichlet(2, 2); 3 of 10 ~ binomial(10, p[1]).
 * "flat":    a density that is rejected everywhere.
 */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int bs_major_version = 2, bs_minor_version = 9, bs_patch_version = 0;

typedef struct { int kind; } Model;
enum { LINE, SIMPLEX, FLAT };

static const double Y[4] = {0.3, -0.2, 0.9, 0.4};
static const double LN_TAU = 1.8378770664093454836;

static char *copied(const char *text) {
  char *out = malloc(strlen(text) + 1);
  return out ? strcpy(out, text) : NULL;
}

Model *bs_model_construct(const char *data, unsigned seed, char **error) {
  (void)seed;
  Model *model = malloc(sizeof *model);
  if (strstr(data, "line")) model->kind = LINE;
  else if (strstr(data, "simplex")) model->kind = SIMPLEX;
  else if (strstr(data, "flat")) model->kind = FLAT;
  else { free(model); *error = copied("no such model"); return NULL; }
  return model;
}
void bs_model_destruct(Model *model) { free(model); }
void bs_free_error_msg(char *error) { free(error); }
int bs_set_print_callback(void *callback, char **error) { (void)callback; (void)error; return 0; }
const char *bs_name(const Model *model) { (void)model; return "recorded"; }
const char *bs_model_info(const Model *model) { (void)model; return "recorded"; }

int bs_param_unc_num(const Model *model) { return model->kind == LINE ? 3 : 1; }
int bs_param_num(const Model *model, bool tp, bool gq) {
  (void)tp; (void)gq;
  return model->kind == LINE ? 3 : model->kind == SIMPLEX ? 2 : 1;
}
const char *bs_param_names(const Model *model, bool tp, bool gq) {
  (void)tp; (void)gq;
  return model->kind == LINE ? "mu,s.1,s.2" : model->kind == SIMPLEX ? "p.1,p.2" : "a";
}
const char *bs_param_unc_names(const Model *model) {
  return model->kind == LINE ? "mu,s.1,s.2" : model->kind == SIMPLEX ? "p.1" : "a";
}

int bs_param_constrain(const Model *model, bool tp, bool gq, const double *theta, double *x,
                       void *rng, char **error) {
  (void)tp; (void)gq; (void)rng; (void)error;
  x[0] = theta[0];
  if (model->kind == LINE) { x[1] = exp(theta[1]); x[2] = exp(theta[2]); }
  if (model->kind == SIMPLEX) { x[0] = 1 / (1 + exp(-theta[0])); x[1] = 1 - x[0]; }
  return 0;
}
int bs_param_unconstrain(const Model *model, const double *x, double *theta, char **error) {
  if (model->kind == LINE && (x[1] <= 0 || x[2] <= 0)) {
    *error = copied("s must be positive");
    return 1;
  }
  theta[0] = model->kind == SIMPLEX ? log(x[0] / x[1]) : x[0];
  if (model->kind == LINE) { theta[1] = log(x[1]); theta[2] = log(x[2]); }
  return 0;
}
int bs_param_unconstrain_json(const Model *model, const char *x, double *theta, char **error) {
  (void)model; (void)x; (void)theta;
  *error = copied("not recorded");
  return 1;
}
int bs_param_initialize(const Model *model, const char *inits, void *rng, double radius, int tries,
                        bool print, double *theta, char **error) {
  (void)inits; (void)rng; (void)radius; (void)tries; (void)print; (void)error;
  for (int i = 0; i < bs_param_unc_num(model); i++) theta[i] = 0;
  return 0;
}

int bs_log_density_gradient(const Model *model, bool propto, bool jacobian, const double *theta,
                            double *value, double *slope, char **error) {
  if (model->kind == FLAT) { *error = copied("rejected"); return 1; }
  if (model->kind == SIMPLEX) {
    double p = 1 / (1 + exp(-theta[0]));
    *value = 4 * log(p) + 8 * log(1 - p); /* p (1 - p) p^3 (1 - p)^7 */
    slope[0] = 4 * (1 - p) - 8 * p;
    if (!propto) *value += log(6.0) + log(120.0); /* 1 / B(2, 2), and 10 over 3 */
    if (jacobian) { *value += log(p) + log(1 - p); slope[0] += 1 - 2 * p; }
    return 0;
  }
  double mu = theta[0];
  *value = -mu * mu / 8;
  slope[0] = -mu / 4;
  for (int i = 0; i < 4; i++) {
    *value -= 0.5 * (Y[i] - mu) * (Y[i] - mu);
    slope[0] += Y[i] - mu;
  }
  for (int k = 1; k < 3; k++) {
    double s = exp(theta[k]);
    *value -= 2 * s;
    slope[k] = -2 * s;
    if (jacobian) { *value += theta[k]; slope[k] += 1; }
  }
  if (!propto) *value += 2 * log(2.0) - log(2.0) - 2.5 * LN_TAU;
  return 0;
}
int bs_log_density(const Model *model, bool propto, bool jacobian, const double *theta,
                   double *value, char **error) {
  double slope[3];
  return bs_log_density_gradient(model, propto, jacobian, theta, value, slope, error);
}
int bs_log_density_hessian(void) { return 1; }
int bs_log_density_hessian_vector_product(void) { return 1; }
void *bs_rng_construct(unsigned seed, char **error) { (void)seed; (void)error; return NULL; }
void bs_rng_destruct(void *rng) { (void)rng; }

# SPDX-License-Identifier: BSD-3-Clause
# %% [markdown]
# # Medley from Python
#
# Medley learns predictors from many kinds of evidence at once (kernels, views of the same objects,
# feature templates) and tells which of them matter. This file is a notebook: editors that know
# `# %%` run it cell by cell; `python3 tutorial.py` runs all of it in some seconds and writes
# `medley-tutorial.html` at the end.

# %%
import medley
import numpy as np
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

print("Medley", medley.__version__)

# %% [markdown]
# ## A classifier and its kernels
#
# Generated data, three classes of noisy waves. Without a list of kernels there are a linear, a
# quadratic and a Gaussian one and a bias. `weights_` says what each of them counts.

# %%
X, y = medley.generate("waveform", rows=600, seed=1)
new_X, new_y = medley.generate("waveform", rows=400, seed=2)
model = medley.MKLClassifier(scale="standard").fit(X, y)
print(f"accuracy on new rows: {model.score(new_X, new_y):.3f}")
for name, weight in zip(model.blocks_, model.weights_):
    print(f"  {weight:6.3f}  {name}")

# %% [markdown]
# Kernels are texts (`medley.list_kernels()`), callables, or matrices of their values; a list may
# mix them. A callable gets two arrays of rows and returns the matrix of its values.


# %%
def wide(A, B):
    return rbf_kernel(A, B, gamma=0.005)


mixed = medley.MKLClassifier(["linear(norm=diag)", "rbf(sigma2=20)", wide], epochs=30).fit(X, y)
print(f"with a callable: {mixed.score(new_X, new_y):.3f}", mixed.blocks_)

# %% [markdown]
# ## Views
#
# Several tables with the same rows are given as `Views`, a dict that can be cut by rows. None of
# them separates all classes; together they do. Names behind `@` put a kernel on one view.

# %%
views, kinds = medley.generate("blobs", rows=400, seed=1)
print({name: table.shape for name, table in views.items()})
together = medley.MKLClassifier("rbf(auto)", epochs=20)
print(f"all views: {cross_val_score(together, views, kinds, cv=3).mean():.3f}")
for name in views:
    alone = medley.MKLClassifier(f"rbf(auto)@{name}", epochs=20)
    print(f"{name} alone: {cross_val_score(alone, views, kinds, cv=3).mean():.3f}")

# %% [markdown]
# ## An optimum with a certificate
#
# For two classes or numbers the method `spicy` finds the optimum and proves it: no model has an
# objective more than `gap_` below this one's. Here it chooses among a bank of 273 kernels.

# %%
rings, sides = medley.generate("ringnorm", rows=300, seed=3)
bank = medley.MKLClassifier(
    ["rbf(sigma={0.5,1,2..10})", "poly(degree=1..2)"], views="all+each", normalize="trace", gap=1e-3
).fit(rings, sides)
print(f"{np.count_nonzero(bank.weights_)} of {len(bank.weights_)} kernels, gap {bank.gap_:.1e}")

# %% [markdown]
# ## scikit-learn's tools
#
# Pipelines, `GridSearchCV`, `clone`, pickling: everything works as with its own estimators.
# `medley.tune` does the same job as a grid search but computes kernels only once.

# %%
line = make_pipeline(StandardScaler(), medley.MKLClassifier("rbf(auto)", epochs=10))
grid = {"mklclassifier__penalty": ["mkl", "l2", "block(q=1.5)"]}
search = GridSearchCV(line, grid, cv=3).fit(X, y)
print("grid search:", search.best_params_, f"{search.best_score_:.3f}")

tuned = medley.tune(rings, sides, {"C": [0.1, 1, 10]}, estimator=medley.MKLClassifier(), cv=5)
print("tune:", tuned.best_params_, f"{tuned.best.mean:.3f} +- {tuned.best.standard_error:.3f}")

# %% [markdown]
# A path of penalties shows kernels coming in one after the other as the penalty gets weaker.

# %%
trace = medley.regularization_path(
    rings, sides, estimator=medley.MKLClassifier("rbf(auto)", views="all+each"), count=8
)
for strength, active in zip(trace.lambdas, trace.active):
    print(f"  lambda {strength:8.5f}: {active:3d} of {len(trace.blocks)} kernels")

# %% [markdown]
# ## Data that come in pieces
#
# `partial_fit` learns from each piece once; kernels and their widths are fixed by the first one.

# %%
online = medley.MKLClassifier(["linear(norm=diag)", "rbf(auto)"])
for start in range(0, 600, 150):
    part = slice(start, start + 150)
    online.partial_fit(X[part], y[part], classes=[0, 1, 2])
    print(f"  after {start + 150} rows: {online.score(new_X, new_y):.3f}")

# %% [markdown]
# ## Numbers

# %%
points = np.linspace(-4, 4, 200).reshape(-1, 1)
curve = np.sinc(points[:, 0]) + 0.1 * points[:, 0]
regressor = medley.MKLRegressor(["linear", "rbf(sigma2={0.05,0.2,1})"], C=50).fit(points, curve)
print(f"R2 {regressor.score(points, curve):.3f}, gap {regressor.gap_:.1e}")

# %% [markdown]
# ## Sequences
#
# Labels of words: tokens are texts, tuples of texts for template columns, or dicts of attributes.
# Handwritten words: each sequence is an array with an image of a letter in each row.

# %%
sentences = [["the", "old", "dog", "sees", "a", "cat"], ["a", "cat", "sleeps"],
             ["some", "dog", "runs"]]
chunks = [["B-NP", "I-NP", "I-NP", "B-VP", "B-NP", "I-NP"], ["B-NP", "I-NP", "B-VP"],
          ["B-NP", "I-NP", "B-VP"]]
chunker = medley.SequenceLabeler(epochs=10).fit(sentences, chunks)
print(chunker.predict([["the", "old", "cat", "runs"]]))

words, letters = medley.generate("handwriting", rows=150, seed=1)
test_words, test_letters = medley.generate("handwriting", rows=60, seed=2)
reader = medley.SequenceLabeler(kernels=["linear(norm=diag)", "rbf(sigma2=5)"], epochs=10)
reader.fit(words, letters)
print(f"letters: {reader.score(test_words, test_letters):.3f}")
print("".join(test_letters[0]), "was read as", "".join(reader.predict(test_words[:1])[0]))

# %% [markdown]
# ## Trees

# %%
said = [[("the", "DET"), ("dog", "NOUN"), ("barks", "VERB")],
        [("cats", "NOUN"), ("like", "VERB"), ("fish", "NOUN")]]
arcs = [[(2, "det"), (3, "nsubj"), (0, "root")], [(2, "nsubj"), (0, "root"), (2, "obj")]]
parser = medley.DependencyParser("arc-form-upos", epochs=5, hash_bits=12).fit(said, arcs)
print(parser.predict([[("the", "DET"), ("cat", "NOUN"), ("barks", "VERB")]]))

# %% [markdown]
# ## A report
#
# One HTML file with the kernels, the curves of training, the tuning and the path, and examples.

# %%
tuned.best_estimator_.report(
    "medley-tutorial.html", rings, sides, title="Rings", tuning=tuned, trace=trace
)
print("the report is in medley-tutorial.html")

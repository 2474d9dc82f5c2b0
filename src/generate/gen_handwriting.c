/* SPDX-License-Identifier: BSD-3-Clause */
/* Handwritten words as 16x8 binary images of their letters, like the OCR data of Kassel and
 * Taskar. A word has a writer (slant, width, height, rotation, pen); each of its letters is drawn
 * from the strokes in gen_strokes.c with shaken control points and place, and a pixel is black
 * where its centre lies within the pen's radius of a stroke. Some pixels are then flipped.
 * `noise` scales all of these deviations; 0 gives the bare alphabet. */
#include "generate/gen_strokes.h"
#include "generate/generate.h"

enum { HEIGHT = 16, WIDTH = 8, PIXELS = HEIGHT * WIDTH, FOLDS = 10, PIECES_PER_CURVE = 6 };

/* Standard deviations at noise 1, chosen so that after 2500 training letters a linear classifier
 * gets 75 to 84 % of the letters right (depending on its kind) and a Gaussian kernel 91 %. */
static const double SLANT = 0.22;    /* pixels sideways per pixel upwards */
static const double STRETCH = 0.08;  /* log of the width and height factors */
static const double ROTATION = 0.06; /* radians */
static const double SHAKE = 0.15;    /* control points, pixels */
static const double SHIFT = 0.63;    /* the whole letter, pixels */
static const double PEN = 0.08;      /* log of the pen's radius */
static const double RADIUS = 0.65;   /* of the pen, pixels */
static const double FLIPPED = 0.004; /* probability for each pixel */

static const char *const WORDS[] = {
    "able",    "above",     "across",  "adjust",    "after",   "again",    "also",    "always",
    "amazing", "animal",    "answer",  "apple",     "aqua",    "away",     "axis",    "back",
    "banquet", "because",   "been",    "before",    "blaze",   "body",     "book",    "both",
    "boxes",   "bring",     "build",   "bronze",    "carry",   "change",   "city",    "close",
    "could",   "country",   "crazy",   "different", "dozen",   "draw",     "earth",   "enjoy",
    "equal",   "even",      "every",   "example",   "expect",  "eyes",     "family",  "father",
    "fixed",   "find",      "first",   "follow",    "found",   "frozen",   "garden",  "great",
    "group",   "have",      "hand",    "high",      "horizon", "house",    "inject",  "jacket",
    "japan",   "jazz",      "jewel",   "join",      "joke",    "journey",  "judge",   "juice",
    "jump",    "jungle",    "just",    "keep",      "kind",    "knock",    "know",    "large",
    "lazy",    "learn",     "light",   "liquid",    "little",  "major",    "maximum", "might",
    "mixture", "mother",    "move",    "much",      "music",   "must",     "never",   "next",
    "night",   "number",    "object",  "often",     "open",    "oxygen",   "paper",   "people",
    "picture", "place",     "plant",   "point",     "prize",   "puzzle",   "quality", "quarter",
    "queen",   "question",  "quick",   "quiet",     "quite",   "quiz",     "relax",   "require",
    "right",   "river",     "school",  "second",    "seize",   "sequence", "should",  "size",
    "small",   "something", "sound",   "square",    "squeeze", "story",    "study",   "subject",
    "taxi",    "think",     "through", "together",  "travel",  "under",    "unique",  "value",
    "very",    "voyage",    "water",   "wave",      "while",   "wizard",   "work",    "would",
    "write",   "xylophone", "year",    "yellow",    "young",   "zebra",    "zero",    "zone",
};

enum { WORD_COUNT = sizeof WORDS / sizeof *WORDS };

typedef struct point {
    double x, y; /* pixels from the image's top left corner */
} point;

/* What turns a point of the letter's box into one of the image. */
typedef struct hand_style {
    double slant, width, height, cosine, sine, radius;
    point middle;
} hand_style;

static hand_style draw_writer(double noise, md_random *random)
{
    /* one by one: the order of evaluation inside an initialiser is the compiler's choice */
    hand_style hand = {.middle = {WIDTH / 2.0, HEIGHT / 2.0}};
    hand.slant = SLANT * noise * md_random_normal(random);
    hand.width = exp(STRETCH * noise * md_random_normal(random));
    hand.height = exp(STRETCH * noise * md_random_normal(random));
    hand.radius = RADIUS * exp(PEN * noise * md_random_normal(random));
    const double angle = ROTATION * noise * md_random_normal(random);
    hand.cosine = cos(angle);
    hand.sine = sin(angle);
    return hand;
}

static point place(const hand_style *hand, md_stroke_point box, double noise, md_random *random)
{
    const double x =
        (box.x - 50) / 100.0 * WIDTH * hand->width + SHAKE * noise * md_random_normal(random);
    const double y =
        (box.y - 50) / 100.0 * HEIGHT * hand->height + SHAKE * noise * md_random_normal(random);
    const double slanted = x - hand->slant * y;
    return (point){hand->middle.x + hand->cosine * slanted - hand->sine * y,
                   hand->middle.y + hand->sine * slanted + hand->cosine * y};
}

static point between(point a, point b, double t)
{
    return (point){a.x + t * (b.x - a.x), a.y + t * (b.y - a.y)};
}

/* Blackens the pixels whose centres lie within radius of the segment from a to b. */
static void draw_line(float *image, point a, point b, double radius)
{
    const point d = {b.x - a.x, b.y - a.y};
    const double length2 = d.x * d.x + d.y * d.y;
    for (int row = 0; row < HEIGHT; row++) {
        for (int column = 0; column < WIDTH; column++) {
            const point p = {column + 0.5 - a.x, row + 0.5 - a.y};
            const double along = length2 > 0 ? (p.x * d.x + p.y * d.y) / length2 : 0;
            const double t = fmin(fmax(along, 0), 1);
            const point gap = {p.x - t * d.x, p.y - t * d.y};
            if (gap.x * gap.x + gap.y * gap.y <= radius * radius)
                image[row * WIDTH + column] = 1;
        }
    }
}

/* The Bezier curve from a to c drawn towards b. */
static void draw_curve(float *image, point a, point b, point c, double radius)
{
    point from = a;
    for (int i = 1; i <= PIECES_PER_CURVE; i++) {
        const double t = (double)i / PIECES_PER_CURVE;
        const point to = between(between(a, b, t), between(b, c, t), t);
        draw_line(image, from, to, radius);
        from = to;
    }
}

static void draw_stroke(float *image, const md_stroke *stroke, const hand_style *hand, double noise,
                        md_random *random)
{
    point points[MD_PREPARED_MOST] = {{0, 0}};
    for (size_t i = 0; i < stroke->count; i++) {
        const bool is_corner = i > 0 && stroke->points[i].x == stroke->points[i - 1].x &&
                               stroke->points[i].y == stroke->points[i - 1].y;
        points[i] = is_corner ? points[i - 1] : place(hand, stroke->points[i], noise, random);
    }
    if (stroke->count == 2) {
        draw_line(image, points[0], points[1], hand->radius);
        return;
    }
    point from = points[0];
    for (size_t i = 1; i + 1 < stroke->count; i++) {
        const bool is_last = i + 2 == stroke->count;
        const point to = is_last ? points[i + 1] : between(points[i], points[i + 1], 0.5);
        draw_curve(image, from, points[i], to, hand->radius);
        from = to;
    }
}

static void draw_letter(float *image, char letter, hand_style hand, double noise, md_random *random)
{
    const md_letter_shape *shape = &md_letter_shapes[letter - 'a'];
    hand.middle.x += SHIFT * noise * md_random_normal(random);
    hand.middle.y += SHIFT * noise * md_random_normal(random);
    hand.radius *= exp(PEN * noise * md_random_normal(random));
    for (size_t s = 0; s < shape->stroke_count; s++)
        draw_stroke(image, &shape->strokes[s], &hand, noise, random);
    for (size_t p = 0; p < PIXELS; p++)
        if (md_random_uniform(random) < FLIPPED * noise)
            image[p] = 1 - image[p];
}

/* Chooses the words and with them the number of rows, the sequences and the folds. */
static medley_status choose_words(medley_dataset *dataset, const char **words, size_t count,
                                  md_random *random, medley_error *error)
{
    MEDLEY_TRY(md_new(&dataset->sequence_start, count + 1, sizeof(size_t), error));
    dataset->sequence_count = count;
    for (size_t w = 0; w < count; w++) {
        words[w] = WORDS[md_random_below(random, WORD_COUNT)];
        dataset->rows += strlen(words[w]);
        dataset->sequence_start[w + 1] = dataset->rows;
    }
    MEDLEY_TRY(md_new(&dataset->fold, dataset->rows, sizeof *dataset->fold, error));
    for (size_t w = 0; w < count; w++)
        for (size_t r = dataset->sequence_start[w]; r < dataset->sequence_start[w + 1]; r++)
            dataset->fold[r] = (int32_t)(w % FOLDS);
    return MEDLEY_OK;
}

static medley_status generate(medley_dataset *dataset, const medley_generate_options *options,
                              md_random *random, medley_error *error)
{
    MD_CLEARED(md_labels_clear) md_label_builder labels = {0};
    md_table *table;
    MD_OWNED(free) const char **words = NULL;
    size_t row = 0;

    MEDLEY_TRY(md_generate_refuse_views(options, error));
    MEDLEY_TRY(md_generate_refuse_dimension(options, PIXELS, error));
    MEDLEY_TRY(md_new(&words, options->rows, sizeof *words, error));
    MEDLEY_TRY(choose_words(dataset, words, options->rows, random, error));
    MEDLEY_TRY(md_generate_table(&table, dataset, "", PIXELS, error));
    table->height = HEIGHT;
    table->width = WIDTH;
    for (size_t w = 0; w < options->rows; w++) {
        const hand_style writer = draw_writer(options->noise, random);
        for (const char *letter = words[w]; *letter != '\0'; letter++, row++) {
            draw_letter(table->features.dense + row * PIXELS, *letter, writer, options->noise,
                        random);
            MEDLEY_TRY(md_labels_add(&labels, letter, 1, error));
        }
    }
    return md_labels_finish(&labels, dataset, error);
}

const md_generator md_generator_handwriting = {
    .name = "handwriting",
    .summary = "handwritten English words, 26 letters as 16x8 images, sequences",
    .format = "letter",
    .default_rows = 700,
    .generate = generate,
};

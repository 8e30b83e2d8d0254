// How large a picture is drawn and with how many rays a pixel, by how long the last ones took, so that
// a slow machine shows small pictures smoothly and not large ones rarely.

/** From the best to the cheapest: the share of the width, and rays along each side of a pixel. */
export const LEVELS = [
  { share: 1, samples: 3 },
  { share: 1, samples: 2 },
  { share: 1, samples: 1 },
  { share: 0.75, samples: 1 },
  { share: 0.5, samples: 1 },
  { share: 0.35, samples: 1 },
];
const FIRST = 2;
const SPARE = 0.7; // of its time that a better picture may be expected to take
const SLOW = 3; // slow pictures in a row before a cheaper one is drawn
const PATIENCE = 20; // pictures that have time to spare before a better one is tried
const MOST_PATIENCE = 640; // it doubles where a better one was tried in vain

/** How many rays a level has, as a share of what one a pixel would be. @param {number} level */
const rays = (level) => (LEVELS[level].share * LEVELS[level].samples) ** 2;

export class Pace {
  constructor() {
    this.level = FIRST;
    this.quick = 0; // pictures in a row that had time to spare
    this.slow = 0; // pictures in a row that took too long
    this.patience = PATIENCE;
    /** Whether the present level was tried because the cheaper one had time to spare. */
    this.isTried = false;
  }

  reset() {
    this.level = FIRST;
    this.quick = this.slow = 0;
    this.patience = PATIENCE;
    this.isTried = false;
  }

  /**
   * The size of the next picture.
   * @param {number} width
   * @param {number} height
   * @param {number} time Milliseconds that it may take; 0: as long as it takes.
   */
  sizeFor(width, height, time) {
    const { share, samples } = LEVELS[time === 0 ? 0 : this.level];
    return {
      width: Math.max(8, Math.round(width * share)),
      height: Math.max(8, Math.round(height * share)),
      samples,
    };
  }

  /**
   * Note how long a picture took.
   * @param {number} took
   * @param {number} time
   */
  drew(took, time) {
    if (time === 0) return;
    // A slow picture by itself tells little: code is compiled meanwhile, or memory is tidied up.
    this.slow = took > time ? this.slow + 1 : 0;
    if (this.slow === SLOW && this.level < LEVELS.length - 1) {
      ++this.level;
      this.quick = this.slow = 0;
      if (this.isTried) this.patience = Math.min(2 * this.patience, MOST_PATIENCE);
      this.isTried = false;
    } else if (this.level > 0 && took * (rays(this.level - 1) / rays(this.level)) < SPARE * time) {
      if (++this.quick < this.patience) return;
      --this.level;
      this.quick = 0;
      this.isTried = true;
    } else {
      this.quick = 0;
    }
  }
}

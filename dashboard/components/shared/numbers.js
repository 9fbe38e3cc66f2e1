// Numbers as text, as dashboard/ui/numbers.py writes them.

/**
 * A probability as a percentage, rounded as Python rounds. It is never 0%, and 100% only if it is 1.
 * @param {number} share from 0 to 1
 */
export function percent(share, digits = 1) {
  const text = toFixedEven(100 * share, digits);
  const [under, over] = digits ? ["<", ">"] : ["under ", "over "];
  const step = 10 ** -digits;
  if (Number(text) === 0) return `${under}${step.toFixed(digits)}%`;
  if (Number(text) === 100 && share < 1) return `${over}${(100 - step).toFixed(digits)}%`;
  return `${text}%`;
}

/**
 * As `toFixed`, but halfway between two numbers the even one is taken.
 * @param {number} value at least 0
 * @param {number} digits
 */
function toFixedEven(value, digits) {
  const text = value.toFixed(digits);
  const halfway = (value * 2 ** (digits + 1)) % 2 === 1; // exactly: powers of two do not round
  return halfway && Number(text.at(-1)) % 2 ? (Number(text) - 10 ** -digits).toFixed(digits) : text;
}

/**
 * The ends of an interval of a probability, which are 1 only by rounding.
 * @param {number} low
 * @param {number} high
 */
export function percentRange(low, high) {
  const ends = [low, high].map((end) => percent(Math.min(end, 1 - Number.EPSILON / 2)));
  return [...new Set(ends)].join(" to ");
}

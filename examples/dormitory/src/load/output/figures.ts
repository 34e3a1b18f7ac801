/** Figures for people, the same in the table and in the report. */

const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const tenths = new Intl.NumberFormat("en-US", { minimumFractionDigits: 1, maximumFractionDigits: 1 });

export function count(number: number): string {
  return whole.format(number);
}

export function perSecond(rate: number): string {
  return rate < 1_000 ? tenths.format(rate) : whole.format(rate);
}

export function milliseconds(ms: number): string {
  return ms < 100 ? tenths.format(ms) : whole.format(ms);
}

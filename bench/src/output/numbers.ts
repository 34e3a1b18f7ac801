export function number(value: number | null | undefined, digits: number): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const shown = value >= 1_000 ? 0 : digits;
  return value.toLocaleString("en-US", { minimumFractionDigits: shown, maximumFractionDigits: shown });
}

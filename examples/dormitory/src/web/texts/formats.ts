/** Dates, figures and plurals in a language, by the time zone of the server. */
export const languages = ["en", "zh-CN"] as const;
export type Language = (typeof languages)[number];

/** The zone is that in which the server runs, because all people of a selection are in one place. */
export function formatsOf(language: Language) {
  const locale = language === "en" ? "en-GB" : language;
  const rules = new Intl.PluralRules(locale);
  const moments = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" });
  const seconds = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "medium" });
  const figures = new Intl.NumberFormat(locale);
  const rates = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 });
  return {
    plural: (count: number) => rules.select(count),
    moment: (ms: number) => moments.format(ms),
    second: (ms: number) => seconds.format(ms),
    range: (fromMs: number, toMs: number) => moments.formatRange(fromMs, toMs),
    figure: (count: number) => figures.format(count),
    perSecond: (rate: number) => rates.format(rate),
  };
}

export const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The table of texts of a language, and the language of a request. */
import { chinese } from "./chinese.js";
import { english } from "./english.js";
import { type Language, languages } from "./formats.js";

export type Texts = typeof english;

const tables: Readonly<Record<Language, Texts>> = { en: english, "zh-CN": chinese };

export function textsOf(language: Language): Texts {
  return tables[language];
}

export function isLanguage(word: string | undefined): word is Language {
  return languages.some((each) => each === word);
}

/** The cookie of the reader, else the first language of the browser's list that there is, else English. */
export function languageOf(cookie: string | undefined, accepted: string | undefined): Language {
  if (isLanguage(cookie)) return cookie;
  const ranked = (accepted ?? "")
    .split(",")
    .map((part) => {
      const [tag = "", quality = "1"] = part
        .trim()
        .toLowerCase()
        .split(/\s*;\s*q=/);
      return { tag, quality: Number(quality) };
    })
    .sort((a, b) => b.quality - a.quality);
  const first = ranked.find(({ tag }) => /^(?:en|zh)\b/.test(tag));
  return first?.tag.startsWith("zh") ? "zh-CN" : "en";
}

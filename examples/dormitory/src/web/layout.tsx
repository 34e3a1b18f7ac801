/** The frame of every page: head, header with menu, language and sign-out, footer. */
import { html, raw } from "hono/html";
import type { Child } from "hono/jsx";
import type { ClientModule } from "./assets.js";
import type { PageContext } from "./site.js";
import { timeZone } from "./texts/formats.js";
import type { Texts } from "./texts/texts.js";

export interface PageProps {
  readonly context: PageContext;
  readonly title: string;
  /** The address of this page for the menu and for the other language. @default that of the request */
  readonly path?: string | undefined;
  readonly script?: ClientModule | undefined;
  /** Sheet and script are in the page, so that it comes with one request. */
  readonly isInOne?: boolean | undefined;
  /** A page without scripts asks again after this time; with `always`, one with scripts does too. */
  readonly reloadS?: number | undefined;
  readonly reloads?: "always" | "without-scripts" | undefined;
  readonly children?: Child;
}

const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='3' fill='%230b5cad'/%3E%3Cpath d='M4 13V4h5v9' fill='%23fff'/%3E%3C/svg%3E";

export function Page(props: PageProps) {
  const { context, title, children, path = context.req.path } = props;
  const language = context.get("language");
  const texts = context.get("texts");
  const other = language === "en" ? "zh-CN" : "en";
  return html`<!doctype html>${(
    <html lang={language}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{`${title} · ${texts.site}`}</title>
        <link rel="icon" href={icon} />
        <Reload {...props} />
        <Sheet {...props} />
      </head>
      <body>
        <header>
          <strong>
            <a href="/">{texts.site}</a>
          </strong>
          <Menu texts={texts} role={context.get("student")?.role} path={path} />
          <a href={`${path}?lang=${other}`} lang={other} hreflang={other}>
            {texts.otherLanguage}
          </a>
          <SignOut context={context} />
        </header>
        <main>{children}</main>
        <footer>
          <span>
            {texts.footer} ({timeZone}).
          </span>
        </footer>
        <Script {...props} />
      </body>
    </html>
  )}`;
}

function Menu({ texts, role, path }: { texts: Texts; role: "student" | "admin" | undefined; path: string }) {
  if (!role) return null;
  const { nav } = texts;
  const links =
    role === "admin"
      ? [["/admin", nav.admin] as const, ["/admin/upkeep", nav.upkeep] as const]
      : [
          ["/me", nav.home] as const,
          ["/countdown", nav.countdown] as const,
          ["/grab", nav.grab] as const,
          ["/rooms", nav.rooms] as const,
        ];
  return (
    <nav aria-label={texts.mainMenu}>
      {links.map(([href, text]) => (
        <a href={href} aria-current={href === path ? "page" : undefined}>
          {text}
        </a>
      ))}
    </nav>
  );
}

function SignOut({ context }: { context: PageContext }) {
  const student = context.get("student");
  const texts = context.get("texts");
  if (!student) return null;
  return (
    <form method="post" action="/logout">
      <button type="submit" data-plain title={texts.signedInAs(student.name)}>
        {texts.signOut}
      </button>
    </form>
  );
}

function Reload({ reloadS, reloads = "without-scripts" }: PageProps) {
  if (reloadS === undefined) return null;
  const reload = <meta http-equiv="refresh" content={String(reloadS)} />;
  return reloads === "always" ? reload : <noscript>{reload}</noscript>;
}

function Sheet({ context, isInOne }: PageProps) {
  const { assets } = context.get("site");
  if (!isInOne) return <link rel="stylesheet" href={assets.sheet} />;
  return <style nonce={context.get("secureHeadersNonce")}>{ours(assets.sheetText)}</style>;
}

function Script({ context, script, isInOne }: PageProps) {
  if (!script) return null;
  const { assets } = context.get("site");
  if (!isInOne) return <script type="module" src={assets.script(script)} />;
  return (
    <script type="module" nonce={context.get("secureHeadersNonce")}>
      {ours(assets.scriptText(script))}
    </script>
  );
}

/**
 * The one place where text is written as it is. It is our own built file, and people cannot write into it. Its end must
 * not be in it, because the element would end there.
 */
function ours(text: string) {
  if (/<\/(?:style|script)/i.test(text)) throw new Error("a built file would end its own element");
  return raw(text);
}

/** A line of good or bad news above a page. */
export function Notice({ good, bad }: { good?: string | undefined; bad?: string | undefined }) {
  return (
    <>
      {good && (
        <p data-note role="status">
          {good}
        </p>
      )}
      {bad && <p role="alert">{bad}</p>}
    </>
  );
}

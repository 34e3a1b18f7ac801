/** CSV imports into a batch, and their errors by line. */
import type { ImportResult } from "../../domain/student.js";
import { Page } from "../layout.js";
import type { PageContext } from "../site.js";
import { reasonsOf } from "../texts/reasons.js";

export const importKinds = ["students", "rooms", "wishes"] as const;
export type ImportKind = (typeof importKinds)[number];

/** Problems that the page lists; their number is said as well. */
const SHOWN = 200;

export function ImportPanel({
  context,
  base,
  kind = "students",
}: {
  context: PageContext;
  base: string;
  kind?: ImportKind;
}) {
  const { imports } = context.get("texts");
  return (
    <article>
      <h2>{imports.title}</h2>
      <p>
        <small>{imports.lead}</small>
      </p>
      <form method="post" action={`${base}/import`} enctype="multipart/form-data">
        <fieldset>
          {importKinds.map((each) => (
            <label>
              <input type="radio" name="kind" value={each} checked={each === kind} />
              <span>
                {imports.kinds[each]} <small>{imports.columns[each]}</small>
              </span>
            </label>
          ))}
        </fieldset>
        <label for="file">{imports.file}</label>
        <input id="file" name="file" type="file" accept=".csv,text/csv" />
        <label for="text">{imports.text}</label>
        <textarea id="text" name="text" rows={4} />
        <p>
          <button type="submit">{imports.button}</button>
        </p>
      </form>
    </article>
  );
}

export function ImportedPage(props: {
  context: PageContext;
  base: string;
  kind: ImportKind;
  result: ImportResult;
}) {
  const { context, base, kind, result } = props;
  const { imports, admin } = context.get("texts");
  const { imported, problems } = result;
  const isEmpty = imported === 0 && problems.length === 0;
  return (
    <Page context={context} title={imports.title} path={base}>
      <p>
        <a href={base}>{admin.oneBack}</a>
      </p>
      <h1>
        {imports.title}: {imports.kinds[kind]}
      </h1>
      <p data-note role="status">
        {isEmpty ? imports.empty : imports.done(imported)}
      </p>
      {problems.length > 0 && <Problems context={context} problems={problems} />}
      <ImportPanel context={context} base={base} kind={kind} />
    </Page>
  );
}

function Problems({ context, problems }: { context: PageContext; problems: ImportResult["problems"] }) {
  const { imports } = context.get("texts");
  const words = reasonsOf(context.get("language")).imports;
  const sorted = [...problems].sort((one, other) => one.line - other.line);
  const more = problems.length - SHOWN;
  return (
    <section role="alert">
      <h2>{imports.errors(problems.length)}</h2>
      <div data-table>
        <table>
          <thead>
            <tr>
              <th scope="col">{imports.line}</th>
              <th scope="col">{imports.error}</th>
              <th scope="col">{imports.value}</th>
            </tr>
          </thead>
          <tbody>
            {sorted.slice(0, SHOWN).map(({ line, problem, text }) => (
              <tr>
                <td>{line}</td>
                <td>{words[problem]}</td>
                <td>{text}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {more > 0 && <p>{imports.more(more)}</p>}
    </section>
  );
}

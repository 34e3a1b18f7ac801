/** The consistency check, its repair, and the log of the archive. */
import type { CheckReport, LogEntry } from "../../domain/upkeep.js";
import { Page } from "../layout.js";
import type { PageContext } from "../site.js";

export interface UpkeepProps {
  readonly context: PageContext;
  readonly log: readonly LogEntry[];
  readonly report?: CheckReport | undefined;
}

export function UpkeepPage({ context, log, report }: UpkeepProps) {
  const { upkeep } = context.get("texts");
  return (
    <Page context={context} title={upkeep.title} path="/admin/upkeep">
      <h1>{upkeep.title}</h1>
      <p>{upkeep.lead}</p>
      <form method="post" action="/admin/upkeep">
        <p data-row>
          <button type="submit" name="action" value="check">
            {upkeep.check}
          </button>
          <button type="submit" name="action" value="repair" data-danger>
            {upkeep.repair}
          </button>
        </p>
      </form>
      {report && <Report context={context} report={report} />}
      <Log context={context} log={log} />
    </Page>
  );
}

function Report({ context, report }: { context: PageContext; report: CheckReport }) {
  const { upkeep } = context.get("texts");
  const { differences, atMs } = report;
  if (differences.length === 0)
    return (
      <p data-note role="status">
        {upkeep.none(atMs)}
      </p>
    );
  return (
    <section role="alert">
      <h2>{upkeep.found(differences.length)}</h2>
      <div data-table>
        <table>
          <thead>
            <tr>
              <th scope="col">{upkeep.kind}</th>
              <th scope="col">{upkeep.text}</th>
              <th scope="col">{upkeep.repaired}</th>
            </tr>
          </thead>
          <tbody>
            {differences.map(({ kind, text, repaired }) => (
              <tr>
                <td>{upkeep.kinds[kind]}</td>
                <td>{text}</td>
                <td>{repaired ? upkeep.yes : upkeep.no}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Log({ context, log }: Pick<UpkeepProps, "context" | "log">) {
  const { upkeep, second } = context.get("texts");
  return (
    <article>
      <h2>{upkeep.log}</h2>
      {log.length === 0 ? (
        <p>{upkeep.noLog}</p>
      ) : (
        <div data-table>
          <table>
            <thead>
              <tr>
                <th scope="col">{upkeep.time}</th>
                <th scope="col">{upkeep.by}</th>
                <th scope="col">{upkeep.text}</th>
              </tr>
            </thead>
            <tbody>
              {log.map(({ atMs, by, text }) => (
                <tr>
                  <td>{second(atMs)}</td>
                  <td>{by}</td>
                  <td>{text}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </article>
  );
}

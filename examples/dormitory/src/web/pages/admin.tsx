/** The administrator's list of batches. */
import type { Batch } from "../../domain/batch.js";
import { Notice, Page } from "../layout.js";
import { localOf } from "../local-time.js";
import type { Said } from "../said.js";
import type { PageContext } from "../site.js";

export function BatchesPage(
  props: { context: PageContext; batches: readonly Batch[]; nowMs: number } & Partial<Said>,
) {
  const { context, batches, nowMs, good, bad } = props;
  const { admin, home, range } = context.get("texts");
  const sorted = [...batches].sort((a, b) => a.startsAtMs - b.startsAtMs || a.name.localeCompare(b.name));
  return (
    <Page context={context} title={admin.title} path="/admin">
      <h1>{admin.title}</h1>
      <Notice good={good} bad={bad} />
      <article data-table>
        <table>
          <thead>
            <tr>
              {[admin.name, `${home.start} – ${home.end}`, admin.state].map((text) => (
                <th scope="col">{text}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {sorted.map((batch) => (
              <tr>
                <td>
                  <a href={`/admin/batches/${encodeURIComponent(batch.id)}`}>{batch.name}</a>
                </td>
                <td>{range(batch.startsAtMs, batch.endsAtMs)}</td>
                <td>
                  {admin.states[batch.state]} <small>{admin[batch.way]}</small>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </article>
      <article data-narrow>
        <h2>{admin.create}</h2>
        <form method="post" action="/admin/batches">
          <Terms
            context={context}
            terms={{ name: "", startsAtMs: nowMs + 3_600_000, endsAtMs: nowMs + 7_200_000, way: "lanes" }}
          />
          <p>
            <button type="submit">{admin.createButton}</button>
          </p>
        </form>
      </article>
    </Page>
  );
}

/** The fields that a new batch and an edited one have in common. */
export function Terms(props: {
  context: PageContext;
  terms: Pick<Batch, "name" | "startsAtMs" | "endsAtMs" | "way">;
}) {
  const { context, terms } = props;
  const { admin, home } = context.get("texts");
  return (
    <>
      <label for="name">{admin.name}</label>
      <input id="name" name="name" value={terms.name} required maxlength={100} />
      <label for="starts">{home.start}</label>
      <input
        id="starts"
        name="starts"
        type="datetime-local"
        step="1"
        value={localOf(terms.startsAtMs)}
        required
      />
      <label for="ends">{home.end}</label>
      <input id="ends" name="ends" type="datetime-local" step="1" value={localOf(terms.endsAtMs)} required />
      <fieldset>
        <legend>{admin.way}</legend>
        {(["locks", "lanes"] as const).map((way) => (
          <label>
            <input type="radio" name="way" value={way} checked={terms.way === way} />
            <span>{way === "locks" ? admin.locksHint : admin.lanesHint}</span>
          </label>
        ))}
      </fieldset>
    </>
  );
}

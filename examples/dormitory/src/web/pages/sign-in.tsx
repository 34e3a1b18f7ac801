/** The page on which people sign in. */
import { Notice, Page } from "../layout.js";
import type { PageContext } from "../site.js";

export function SignInPage(props: {
  context: PageContext;
  number?: string | undefined;
  good?: string | undefined;
  bad?: string | undefined;
}) {
  const { context, number = "", good, bad } = props;
  const { site, signIn, login } = context.get("texts");
  return (
    <Page context={context} title={signIn} path="/">
      <div data-narrow>
        <h1>{site}</h1>
        <p>{login.lead}</p>
        <Notice good={good} bad={bad} />
        <article>
          <form method="post" action="/login">
            <label for="number">{login.number}</label>
            <input id="number" name="number" value={number} required maxlength={32} autocomplete="username" />
            <label for="password">{login.password}</label>
            <input
              id="password"
              name="password"
              type="password"
              required
              maxlength={200}
              autocomplete="current-password"
            />
            <p>
              <button type="submit" data-big>
                {signIn}
              </button>
            </p>
          </form>
        </article>
      </div>
    </Page>
  );
}

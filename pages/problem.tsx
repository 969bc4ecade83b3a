import { forPeople } from '../render/times';
import type { Frame } from './frame';
import type { ProblemModel } from './models';
import { Layout, toDocument } from './parts/layout';
import { Facts } from './parts/section';
import { Prose } from './parts/text';

/** A failure as a page, in the words of the API. */
export function renderProblemPage(given: ProblemModel, frame: Frame): string {
  const { status, code, message, hint, retryable } = forPeople(given, frame.view);
  const title = TITLES[status] ?? (status >= 500 ? 'Something went wrong' : 'This cannot be shown');
  return toDocument(
    <Layout frame={frame} title={title} heading={title} isFailure>
      <section id="problem" aria-label="Problem">
        <p class="lead">
          <Prose text={message} />
        </p>
        <p>
          <Prose text={hint} />
        </p>
        <Facts
          fields={[
            ['Code', code],
            ['Status', String(status)],
            retryable ? ['Later', 'The same page may work in a few seconds'] : null,
          ]}
        />
      </section>
    </Layout>,
  );
}

const TITLES: Readonly<Record<number, string>> = {
  401: 'Sign in to read this',
  403: 'Not permitted',
  404: 'Not found',
  503: 'Not available now',
};

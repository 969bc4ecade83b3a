import type { WhereRelease, WhereView } from '../domain/where/view';
import { paint, type View } from '../render/paint';
import { forPeople } from '../render/times';
import {
  nextWhereCommands,
  STAGE_SYMBOLS,
  whereContainsText,
  whereEndText,
  whereGapLines,
  whereHeadline,
  whereSearchedLines,
  whereShareText,
  whereStageText,
  whereWaitLines,
} from '../render/where';
import { percent } from '../render/words';
import type { Frame } from './frame';
import type { WhereModel } from './models';
import { FilterForm, FilterText, toPageLink } from './parts/filters';
import { Layout, toDocument } from './parts/layout';
import { Notes } from './parts/listing';
import { Commands, Section, Table } from './parts/section';
import { Command, IdLink, Prose, TimeAgo } from './parts/text';
import { CLASS_BY_TONE } from './tones';

const NO_COLORS = paint(false);

/** Where a commit is: the releases that contain it, and the way of each into production. */
export function renderWherePage(given: WhereModel, frame: Frame): string {
  const { asked, found } = forPeople(given, frame.view);
  const title = asked === '' ? 'Where is my commit?' : `Where is ${asked}?`;
  return toDocument(
    <Layout
      frame={frame}
      title={title}
      heading={<bdi>{title}</bdi>}
      {...(asked === '' ? {} : { command: `conveyor where ${asked}` })}
    >
      <FilterForm action="/where" label="Search for a revision" button="Search">
        <FilterText name="revision" label="Commit, version or digest" value={asked} example="4f0c9b1d2e3a" />
      </FilterForm>
      {found === null ? <HowToAsk /> : <WhereAnswer found={found} view={frame.view} />}
    </Layout>,
  );
}

function HowToAsk() {
  return (
    <div class="empty">
      <p>
        Type a commit of 7 digits or more, a version such as <code>kv:12</code>, or a digest. The answer names each
        release that contains it, how far each is, and when it will be everywhere. In a terminal:
      </p>
      <p>
        <Command text="conveyor where 4f0c9b1d2e3a" />
      </p>
    </div>
  );
}

function WhereAnswer({ found, view }: { readonly found: WhereView; readonly view: View }) {
  if (found.candidates.length > 0) return <Candidates found={found} />;
  if (found.releases.length === 0)
    return (
      <Section id="releases" title="No release contains it">
        <Notes lines={whereSearchedLines(found, view)} />
      </Section>
    );
  return (
    <>
      <Section id="releases" title={whereHeadline(found, NO_COLORS)}>
        <Table
          caption="Releases that contain it"
          headings={['Release', 'State', 'Share of the fleet', 'Everywhere', 'Contains', 'Started']}
          rows={found.releases.map((row) => toRow(row, view))}
        />
        {found.total > found.releases.length ? (
          <p class="note">
            {found.total - found.releases.length} more:{' '}
            <a href={toPageLink('/where', { revision: found.asked, limit: 500 })}>show up to 500</a>
          </p>
        ) : null}
        <Notes lines={whereGapLines(found.searched)} />
      </Section>
      <WhereWaits found={found} view={view} />
      <Commands id="next" title="Next" commands={nextWhereCommands(found)} />
    </>
  );
}

function Candidates({ found }: { readonly found: WhereView }) {
  return (
    <Section id="candidates" title="Several revisions begin like this" note="Choose one of them.">
      <Table
        caption="Revisions"
        headings={['Revision', 'Newest release']}
        rows={found.candidates.map(({ revision, release }) => [
          <a href={toPageLink('/where', { revision })}>
            <bdi>{revision}</bdi>
          </a>,
          <IdLink id={release} />,
        ])}
      />
    </Section>
  );
}

function toRow(row: WhereRelease, view: View) {
  const sign = STAGE_SYMBOLS[row.stage];
  return [
    <IdLink id={row.id} />,
    <span class={CLASS_BY_TONE[sign.tone]}>
      <Prose text={whereStageText(row, NO_COLORS)} />
    </span>,
    <>
      <ShareBar share={row.share} /> {whereShareText(row)}
    </>,
    row.everywhereAt === null ? (
      whereEndText(row, view)
    ) : (
      <time datetime={row.everywhereAt}>{whereEndText(row, view)}</time>
    ),
    <bdi>{whereContainsText(row)}</bdi>,
    <TimeAgo iso={row.startedAt} view={view} />,
  ];
}

function ShareBar({ share }: { readonly share: number | null }) {
  if (share === null) return null;
  return (
    <svg
      class="bar tasks"
      viewBox="0 0 100 10"
      preserveAspectRatio="none"
      role="img"
      aria-label={`${percent(share)} of the fleet`}
    >
      <rect class="part-rest" width="100" height="10" />
      <rect class="part-live" width={Math.round(share * 1000) / 10} height="10" />
    </svg>
  );
}

/** The reason that holds each release, until when, and when it will be everywhere. */
function WhereWaits({ found, view }: { readonly found: WhereView; readonly view: View }) {
  const lines = found.releases.flatMap((row) => whereWaitLines(row, view, NO_COLORS));
  return lines.length === 0 ? null : (
    <Section id="waiting" title="Waits and expected ends">
      <Notes lines={lines} />
    </Section>
  );
}

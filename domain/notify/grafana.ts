import type { Format, ReceiverFacts } from './format';
import type { Notice } from './notice';
import { cutHeadline } from './words';

/**
 * An annotation of a whole organisation in Grafana; dashboards show it by its tags. The key is the token of a service account. Grafana takes the
 * text for HTML.
 */
export const grafana: Format = {
  contentType: 'application/json',
  needsKey: true,
  headers: (key) => ({ authorization: `Bearer ${key}` }),
  body: grafanaAnnotation,
};

const ANNOTATION_LENGTH = 2_000;

function grafanaAnnotation(notice: Notice, { link = null }: ReceiverFacts = {}): object {
  const text = escapeHtml(cutHeadline(notice, ANNOTATION_LENGTH));
  return {
    time: Date.parse(notice.at),
    tags: ['conveyor', notice.pipeline, notice.on],
    text: link === null ? text : `${text}\n<a href="${escapeHtml(link)}">${notice.deploy ?? notice.release}</a>`,
  };
}

const escapeHtml = (text: string): string =>
  text
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/"/g, '&quot;')
    .replace(/'/g, '&#39;');

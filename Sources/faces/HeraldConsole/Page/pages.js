// The pages, in the order of the navigation: a page is registered here. The server answers at `/NAME…`
// where there is a file pages/NAME.js, and pages/NAME.css is part of /pages.css.

import * as audit from './pages/audit.js';
import * as campaigns from './pages/campaigns.js';
import * as failures from './pages/failures.js';
import * as find from './pages/find.js';
import * as now from './pages/now.js';
import * as runbook from './pages/runbook.js';
import * as verdict from './pages/verdict.js';

export const pages = [
  { name: '', title: 'Verdict', module: verdict },
  { name: 'now', title: 'Now', module: now },
  { name: 'failures', title: 'Failures', module: failures },
  { name: 'find', title: 'Find', module: find },
  { name: 'campaigns', title: 'Campaigns', module: campaigns },
  { name: 'audit', title: 'Audit', module: audit },
  { name: 'runbook', title: 'Runbook', module: runbook },
];

var __freeze=Object.freeze,__defProp=Object.defineProperty;var __template=(cooked,raw)=>__freeze(__defProp(cooked,"raw",{value:__freeze(raw||cooked.slice())}));var _a;const id=370,ids=[370],modules={2370:((__unused_webpack___webpack_module__,__webpack_exports__,__webpack_require__)=>{__webpack_require__.d(__webpack_exports__,{reportPage:()=>reportPage});var external_node_crypto_=__webpack_require__(7598),external_node_fs_=__webpack_require__(3024),verdict_text=__webpack_require__(8201),coverage=__webpack_require__(1447),json_fields=__webpack_require__(8141),messages=__webpack_require__(7657),view=__webpack_require__(1098),grounding=__webpack_require__(7385),json=__webpack_require__(8794),limits=__webpack_require__(6473);const CONCLUSIONS=["success","failure","inconclusive","skipped"],QUOTING=new Set(["accepted","gate_not_met","internal"]);function endingOf(story,envelope,showing,withPayload){const last=story.finished??{},whole=envelope??{},word=(object,name)=>showing.label((0,json_fields.yR)(object,name)??""),either=name=>word(whole,name)||word(last,name),conclusion=either("conclusion"),reason=either("reason"),gate=(0,json_fields.Ag)(whole,"gate"),isShown=withPayload&&!contradicts(story,whole),payload=isShown&&Object.hasOwn(whole,"structured_output")?whole.structured_output:void 0;return{conclusion:CONCLUSIONS.find(each=>each===conclusion)??null,reason,replayed:(0,json_fields.fG)(whole,"replayed"),exitCode:(0,json_fields._0)(whole,"exit_code")??(0,json_fields._0)(last,"exit_code"),gate:word(gate,"status"),faults:(0,json_fields.$I)(gate,"issues").slice(0,limits.CQ.several).map(issue=>({path:word(issue,"path")||"the root",keyword:word(issue,"keyword")})),gateWords:isShown?(0,json_fields.Z7)(gate,"words").slice(0,limits.CQ.several).map(clause=>(0,messages.xv)(showing.text(clause).text,limits.Nu.reason)):[],payload:(0,json.Gv)(payload)?payload:null,error:QUOTING.has(reason)?"":showing.text((0,json_fields.yR)(whole,"error")??"").text.slice(0,limits.Nu.line),coverage:(0,verdict_text.Qc)((0,coverage.tn)((0,json_fields.Ag)(whole,"evidence")),{path:path=>`\`${showing.label(path).replaceAll("`","'")}\``,sentence:text=>(0,messages.xv)(showing.text(text).text,limits.Nu.reason)})??"",grounding:(0,grounding.BB)((0,view.At)(whole))??"",evidence:isShown?(0,view.At)(whole)??null:null,turns:(0,json_fields._0)(whole,"num_turns")??(0,json_fields._0)(last,"turn_count"),rejections:(0,json_fields._0)(whole,"rejections")??(0,json_fields._0)(last,"rejections"),usage:(0,json_fields.k9)(whole,"usage")??(0,json_fields.k9)(last,"usage"),costUsd:envelope===null?(0,json_fields._0)(last,"cost_usd"):(0,json_fields._0)(whole,"total_cost_usd"),durationMs:(0,json_fields._0)(whole,"duration_ms")??(0,json_fields._0)(last,"duration_ms"),model:word(whole,"model")||story.model,provider:word(whole,"provider")||story.provider,sandbox:word(whole,"sandbox"),judged:judgedBy(whole,showing)}}function contradicts({finished},envelope){return finished===null||Object.keys(envelope).length===0?!1:(0,json_fields.yR)(finished,"conclusion")!==(0,json_fields.yR)(envelope,"conclusion")||(0,json_fields.yR)(finished,"reason")!==(0,json_fields.yR)(envelope,"reason")||(0,json_fields._0)(finished,"turn_count")!==(0,json_fields._0)(envelope,"num_turns")}const JUDGED=[["subject","repository","Repository"],["subject","sha","Commit"],["subject","ref","Ref"],["subject","event","Event"],["subject","pull_request","Pull request"],["subject","run_id","Run"],["subject","run_attempt","Attempt"],["judge","schema_sha256","Schema (SHA-256)"],["judge","gate_sha256","Gate (SHA-256)"],["judge","prompt_sha256","Prompt (SHA-256)"],["judge","version","structured-agent"]];function judgedBy(envelope,showing){return JUDGED.flatMap(([group,name,title])=>{const object=(0,json_fields.Ag)(envelope,group),value=(0,json_fields.yR)(object,name)??String((0,json_fields._0)(object,name)??"");return value===""?[]:[[title,showing.label(value)]]})}var findings=__webpack_require__(9136),format=__webpack_require__(8441),visible=__webpack_require__(2569);const MARKS={success:"\u2713",failure:"\u2715",inconclusive:"!",skipped:"\u2013"};function titleOf(ending){const words=wordsFor(ending);return ending.replayed?`Replay, judged by no model. ${words}`:words}function wordsFor({conclusion,reason,gate}){switch(conclusion){case"success":return gate==="met"?"Success: the gate is met":gate==="none"?"Accepted: no gate was asked for":"Success";case"failure":return"Failure: the gate is not met";case"skipped":return"Skipped: nothing was judged";case"inconclusive":return`Inconclusive: ${reason.replaceAll("_"," ")}`;case null:return"No verdict: the transcript has no end"}}function verdictSection(ending){const kind=ending.conclusion??"unknown";return(0,visible.qy)`<section class="verdict ${kind}" aria-labelledby="verdict">
<h1 id="verdict"><span class="mark" aria-hidden="true">${ending.conclusion===null?"?":MARKS[ending.conclusion]}</span> ${titleOf(ending)}</h1>
${ending.error===""?null:(0,visible.qy)`<p class="error">${ending.error}</p>`}${faults(ending)}${ending.coverage===""?null:(0,visible.qy)`<p>${withCode(ending.coverage)}</p>`}${ending.grounding===""?null:(0,visible.qy)`<p>${ending.grounding}</p>`}
<dl class="facts">${factsOf(ending).map(([name,value])=>(0,visible.qy)`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
${judged(ending)}</section>`}function faults({conclusion,faults:faults2,gateWords}){if(gateWords.length>0){const rows2=gateWords.map(clause=>(0,visible.qy)`<li>It ${withCode(clause)}.</li>`);return(0,visible.qy)`<p>The gate is ${conclusion==="failure"?"not met":"met"}:</p><ul>${rows2}</ul>`}if(faults2.length===0)return null;const rows=faults2.map(({path,keyword})=>(0,visible.qy)`<li><code>${path}</code> (${keyword})</li>`);return(0,visible.qy)`<p>The gate finds fault with:</p><ul>${rows}</ul>`}function factsOf(ending){const{exitCode,turns,rejections,usage,costUsd,durationMs}=ending;return[["Reason",ending.reason],["Gate",ending.gate.replaceAll("_"," ")],["Exit code",exitCode===null?null:String(exitCode)],["Model",ending.model],["Provider",ending.provider],["Turns",turns===null?null:(0,messages.zD)(turns)],["Rejected",rejections===null||rejections===0?null:(0,messages.hS)(rejections,"call")],["Tokens in",usage===null?null:(0,messages.zD)(usage.inputTokens)],["From the cache",usage===null||usage.cachedInputTokens===0?null:(0,messages.zD)(usage.cachedInputTokens)],["Tokens out",usage===null?null:(0,messages.zD)(usage.outputTokens)],["Cost",costUsd===null?turns===null?null:"unknown":(0,format.E9)(costUsd)],["Time",durationMs===null?null:(0,format.p0)(durationMs)],["Sandbox",ending.sandbox]].flatMap(([name,value])=>value===null||value===""?[]:[[name,value]])}function judged({judged:judged2}){if(judged2.length===0)return null;const rows=judged2.map(([name,value])=>(0,visible.qy)`<div><dt>${name}</dt><dd><code>${value}</code></dd></div>`);return(0,visible.qy)`<details class="judged"><summary>What was judged, and by what</summary><dl class="facts wide">${rows}</dl></details>`}function withCode(text){return text.split(/`([^`]+)`/u).map((part,at)=>at%2===1?(0,visible.qy)`<code>${part}</code>`:(0,visible.qy)`${part}`)}function payloadSection(written,evidence,showing){const{payload,byRow}=(0,grounding.YR)(written,evidence),values=[],tables=[];for(const[name,value]of Object.entries(payload)){const objects=(0,json.cy)(value)?value.filter(json.Gv):[];(0,json.cy)(value)&&objects.length>0&&objects.length===value.length?tables.push([name,objects]):values.push([name,value])}let left=limits.CQ.rows;const sections=tables.slice(0,limits.CQ.tables).map(([name,objects])=>{const rows=provenFirst((0,findings.Np)(objects),byRow).slice(0,left);return left-=rows.length,table(name,rows,objects.length,showing)});return(0,visible.qy)`<section class="found" aria-labelledby="found">
<h2 id="found">What was found</h2>
${list(values.slice(0,limits.CQ.values),showing)}${andMore(values.length-limits.CQ.values,"value")}
${sections}${andMore(tables.length-limits.CQ.tables,"table")}
</section>`}const DOUBT="not proven";function provenFirst(rows,byRow){const doubts=new Map;for(const row of rows){const evidence=byRow.get(row),doubt=evidence===void 0?null:(0,grounding.kv)(evidence);doubt!==null&&doubts.set(row,doubt)}if(doubts.size===0)return rows;const mark=row=>({[DOUBT]:"",...row,[DOUBT]:doubts.get(row)??""}),[proven,others]=[rows.filter(row=>!doubts.has(row)),rows.filter(row=>doubts.has(row))];return[...proven,...others].map(mark)}function list(values,showing){if(values.length===0)return null;const rows=values.map(([name,value])=>{const text=(0,json.cy)(value)&&value.length>0?value.map(plain).join(`
`):plain(value);return(0,visible.qy)`<div><dt>${showing.label(name)}</dt><dd>${shown(text,limits.Nu.message,showing)}</dd></div>`});return(0,visible.qy)`<dl class="values">${rows}</dl>`}function table(name,rows,count,showing){const all=[...new Set(rows.flatMap(row=>Object.keys(row)))],columns=all.slice(0,limits.CQ.columns),head=columns.map(column=>(0,visible.qy)`<th scope="col">${showing.label(column)}</th>`),body=rows.map(row=>(0,visible.qy)`<tr>${columns.map(column=>cell(row,column,showing))}</tr>`);return(0,visible.qy)`<h3>${showing.label(name)} (${(0,messages.hS)(count,"entry").replace("entrys","entries")})</h3>
<table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table>${andMore(count-rows.length,"row")}${andMore(all.length-limits.CQ.columns,"column")}`}function cell(row,column,showing){const value=Object.hasOwn(row,column)?row[column]:void 0,text=value===void 0?"":shown(plain(value),limits.Nu.cell,showing),severity=column==="severity"?(0,findings.xJ)(value):null,content=severity===null?text:(0,visible.qy)`<span class="tag ${severity}">${text}</span>`;return(0,visible.qy)`<td data-name="${showing.label(column)}">${content}</td>`}function shown(text,max,showing){return(0,messages.xv)(showing.text(text).text,max)}function plain(value){if(typeof value=="string")return value;try{return JSON.stringify(value)}catch{return"(nested too deeply to be shown)"}}function andMore(count,noun){return count<=0?null:(0,visible.qy)`<p class="dim">… and ${(0,messages.hS)(count,`more ${noun}`)}: see the result file.</p>`}const MANY=40;function storySection(turns){return(0,visible.qy)`<section class="story" aria-labelledby="story"><h2 id="story" tabindex="-1">What happened</h2>
${turns.map(turnArticle)}<p id="nothing" hidden>Nothing matches.</p></section>`}function turnArticle(turn,at){const name=turn.turn===null?"Before the first turn":`Turn ${turn.turn}`,facts=turnFacts(turn);return(0,visible.qy)`<article class="turn${turn.parts.length>MANY?" many":""}" aria-labelledby="t${at}"><header><h3 id="t${at}"><a href="#t${at}">${name}</a></h3>${facts===""?null:(0,visible.qy)`<p class="dim">${facts}</p>`}</header>
${turn.parts.length===0?(0,visible.qy)`<p class="dim">Nothing is recorded of it.</p>`:turn.parts.map(partOf)}</article>
`}const STOPS={length:"cut off by the limit of output tokens",refusal:"refused",pause:"paused by the provider"};function turnFacts({forced,usage,durationMs,costUsd,stopReason}){return[...forced?["asked once more"]:[],...durationMs===null?[]:[(0,format.p0)(durationMs)],...usage===null?[]:[`${(0,messages.hS)((0,format.k8)(usage),"token")} (${(0,messages.zD)(usage.inputTokens)} in, ${(0,messages.zD)(usage.outputTokens)} out)`],...costUsd===null?[]:[`${(0,format.E9)(costUsd)} so far`],...stopReason!==null&&Object.hasOwn(STOPS,stopReason)?[STOPS[stopReason]??""]:[]].join(" \xB7 ")}function partOf(part){return part.kind==="call"?callRow(part):wordsRow(part)}const SPEAKERS={prompt:"The task",user:"Told to the model",model:"The model said",info:"Notice",warning:"Warning"};function wordsRow({kind,text}){const speaker=(0,visible.qy)`<span class="tag ${kind}">${SPEAKERS[kind]}</span>`,problem=kind==="warning"?(0,visible.qy)` data-problem`:null;if(kind==="info"||kind==="warning")return(0,visible.qy)`<div class="row note" data-row${problem} tabindex="-1">${speaker} <span class="text">${text.text}</span>${rest(text)}</div>`;const first=text.text.trimStart().split(`
`,1)[0]??"",open=text.text.length<=1200?(0,visible.qy)` open`:null;return(0,visible.qy)`<details class="row words" data-row${open}><summary>${speaker} <span class="target preview">${first.slice(0,limits.Nu.phrase).toWellFormed()}</span></summary><div class="body">${block(text)}</div></details>`}const DECISIONS=["ok","error","skipped","accepted","rejected"];function callRow(call){const{done}=call,known=DECISIONS.find(each=>each===done?.decision),kind=known??"open",problem=kind==="ok"||kind==="accepted"||kind==="skipped"?null:(0,visible.qy)` data-problem`,time=done===null||done.durationMs===null?"":(0,format.p0)(done.durationMs);return(0,visible.qy)`<details class="row call" data-row${problem}><summary><span class="tag ${kind}">${known??(done===null?"no result":"ended")}</span> <b class="name">${call.name}</b> <code class="target">${call.target}</code> <span class="dim time">${time}</span></summary>
<div class="body">${damage(call)}${call.arguments.length===0?null:(0,visible.qy)`<h4>Arguments</h4>${call.arguments.map(argument)}`}
<h4>Result</h4>${done===null?(0,visible.qy)`<p class="dim">The transcript has none.</p>`:block(done.result)}</div></details>`}function damage({damage:damage2}){if(damage2===null)return null;const words={truncated:"cut off while the model wrote them",malformed:"not delivered whole"}[damage2];return(0,visible.qy)`<p class="dim">The arguments were ${words}.</p>`}function argument({name,text}){return(0,visible.qy)`<div class="argument">${name===null?null:(0,visible.qy)`<code class="key">${name}</code>`}${block(text)}</div>`}function block(shown2){return shown2.text===""?(0,visible.qy)`<p class="dim">(empty)</p>`:(0,visible.qy)`<pre>
${shown2.text}</pre>${rest(shown2)}`}function rest({missing}){return missing===0?null:(0,visible.qy)`<p class="dim">… ${(0,messages.hS)(missing,"more character")}: see the transcript itself.</p>`}const MAX_BARS=180,WIDTH=720,HEIGHT=120;function charts(turns){const known=turns.filter(turn=>turn.usage!==null);if(known.length===0)return null;const columns=columnsOf(known);return(0,visible.qy)`<section class="charts" aria-labelledby="costs"><h2 id="costs">Tokens and cost</h2>
<div class="pair">${tokens(columns)}${cost(columns)}</div></section>`}function columnsOf(turns){const size=Math.ceil(turns.length/MAX_BARS),columns=[];let costUsd=null;for(let from=0;from<turns.length;from+=size){const group=turns.slice(from,from+size),mean=pick=>Math.round(group.reduce((total,turn)=>total+pick(turn),0)/group.length);costUsd=group.findLast(turn=>turn.costUsd!==null)?.costUsd??costUsd,columns.push({first:group[0]?.turn??0,last:group.at(-1)?.turn??0,fresh:mean(({usage})=>Math.max(0,(usage?.inputTokens??0)-(usage?.cachedInputTokens??0))),cached:mean(({usage})=>usage?.cachedInputTokens??0),output:mean(({usage})=>usage?.outputTokens??0),costUsd})}return columns}function tokens(columns){const most=Math.max(1,...columns.map(tokensIn)),step=WIDTH/columns.length,bars=columns.map((column,at)=>{let top=HEIGHT;const part=(kind,count)=>{const height=count/most*HEIGHT;return top-=height,(0,visible.qy)`<rect class="${kind}" x="${px(at*step)}" y="${px(top)}" width="${px(step*.84)}" height="${px(height)}"/>`};return(0,visible.qy)`<g><title>${nameOf(column)}: ${(0,messages.zD)(column.fresh)} in, ${(0,messages.zD)(column.cached)} from the cache, ${(0,messages.zD)(column.output)} out</title>${part("cached",column.cached)}${part("fresh",column.fresh)}${part("output",column.output)}</g>`}),peak=columns.find(column=>tokensIn(column)===most)??null,words=peak===null?"":`most: ${(0,messages.zD)(most)} in ${nameOf(peak).toLowerCase()}${peak.first===peak.last?"":", on average"}`;return(0,visible.qy)`<figure><figcaption><b>Tokens by turn</b> <span class="dim">${words}</span></figcaption>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="Tokens by turn, ${words}">${bars}</svg>
<p class="key"><span class="cached"></span> read from the cache <span class="fresh"></span> read <span class="output"></span> written</p></figure>`}function cost(columns){const last=columns.at(-1)?.costUsd??null;if(last===null)return null;const most=Math.max(last,...columns.map(column=>column.costUsd??0))||1,step=WIDTH/columns.length,points=columns.flatMap((column,at)=>{const y=HEIGHT-(column.costUsd??0)/most*(HEIGHT-2);return[`${px(at*step)},${px(y)}`,`${px((at+1)*step)},${px(y)}`]}),area=`0,${HEIGHT} ${points.join(" ")} ${WIDTH},${HEIGHT}`;return(0,visible.qy)`<figure><figcaption><b>Cost so far</b> <span class="dim">in the end: ${(0,format.E9)(last)}</span></figcaption>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="Cost so far, in the end ${(0,format.E9)(last)}"><polygon class="area" points="${area}"/><polyline class="line" points="${points.join(" ")}"/></svg>
<p class="key">US dollars, turn by turn</p></figure>`}function tokensIn({fresh,cached,output}){return fresh+cached+output}function nameOf({first,last}){return first===last?`Turn ${first}`:`Turns ${first} to ${last}`}function px(value){return value.toFixed(2)}const STYLE=`:root {
  color-scheme: light dark;
  --ground: light-dark(#f6f7f9, #101317);
  --card: light-dark(#ffffff, #181c22);
  --sunken: light-dark(#f1f3f6, #12161b);
  --ink: light-dark(#1b2129, #e4e8ee);
  --dim: light-dark(#59636f, #98a3b0);
  --edge: light-dark(#d5dae1, #313842);
  --accent: light-dark(#0b57d0, #8ab4ff);
  --good: light-dark(#116329, #63d182);
  --bad: light-dark(#b3151f, #ff8a86);
  --odd: light-dark(#8a4b00, #f2b45c);
  --found: light-dark(#ffe27a, #6b5200);
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
:root[data-theme="light"] {
  color-scheme: light;
}
:root[data-theme="dark"] {
  color-scheme: dark;
}
* {
  box-sizing: border-box;
}
[hidden] {
  display: none !important;
}
body {
  margin: 0 auto;
  padding: 0 1rem 3rem;
  max-width: 68rem;
  background: var(--ground);
  color: var(--ink);
  font:
    1rem / 1.5 system-ui,
    -apple-system,
    "Segoe UI",
    Roboto,
    "Noto Sans",
    sans-serif;
  overflow-wrap: anywhere;
}
code,
pre,
.preview {
  font-family: var(--mono);
  font-size: 0.86em;
}
h1,
h2,
h3,
h4,
p,
ul,
figure,
dl,
dd {
  margin: 0;
}
h1 {
  font-size: 1.5rem;
  line-height: 1.25;
  display: flex;
  gap: 0.6rem;
  align-items: center;
}
h2 {
  font-size: 1.1rem;
  margin: 2rem 0 0.75rem;
}
h3 {
  font-size: 1rem;
}
h4 {
  font-size: 0.8rem;
  color: var(--dim);
  font-weight: 600;
  margin: 0.75rem 0 0.25rem;
}
a {
  color: var(--accent);
}
.dim {
  color: var(--dim);
  font-size: 0.875rem;
}
:focus-visible {
  outline: 3px solid var(--accent);
  outline-offset: 1px;
}
.skip {
  position: absolute;
  left: -100vw;
  padding: 0.5rem 1rem;
  background: var(--card);
  z-index: 3;
}
.skip:focus {
  left: 1rem;
  top: 0.5rem;
}
header.page {
  display: flex;
  justify-content: space-between;
  align-items: center;
  gap: 1rem;
  padding: 1rem 0;
}
button,
input[type="search"] {
  font: inherit;
  font-size: 0.875rem;
  color: var(--ink);
  background: var(--card);
  border: 1px solid var(--edge);
  border-radius: 0.4rem;
  padding: 0.3rem 0.7rem;
}
button {
  cursor: pointer;
  white-space: nowrap;
}
button:hover {
  border-color: var(--dim);
}

.verdict {
  --tone: var(--dim);
  background: var(--card);
  border: 1px solid var(--edge);
  border-left: 0.4rem solid var(--tone);
  border-radius: 0.6rem;
  padding: 1.25rem;
}
.verdict.success {
  --tone: var(--good);
}
.verdict.failure {
  --tone: var(--bad);
}
.verdict.inconclusive,
.verdict.unknown {
  --tone: var(--odd);
}
.verdict .mark {
  flex: none;
  display: inline-grid;
  place-items: center;
  width: 2rem;
  height: 2rem;
  border-radius: 50%;
  background: var(--tone);
  color: var(--card);
  font-size: 1.1rem;
}
.verdict p,
.verdict ul {
  margin-top: 0.75rem;
}
.verdict .error {
  white-space: pre-wrap;
  unicode-bidi: isolate;
}
.facts {
  display: grid;
  grid-template-columns: repeat(auto-fill, minmax(8.5rem, 1fr));
  gap: 0.75rem 1.25rem;
  margin-top: 1rem;
}
.facts.wide {
  grid-template-columns: repeat(auto-fill, minmax(16rem, 1fr));
  margin-top: 0.5rem;
}
dt {
  color: var(--dim);
  font-size: 0.8rem;
}
dd {
  unicode-bidi: isolate;
  font-variant-numeric: tabular-nums;
}
.judged {
  margin-top: 1rem;
  font-size: 0.875rem;
}
.judged summary {
  cursor: pointer;
  color: var(--dim);
}
.remarks {
  margin-top: 1rem;
  padding: 0.75rem 1rem;
  border: 1px solid var(--odd);
  border-radius: 0.6rem;
  font-size: 0.875rem;
}
.remarks ul {
  padding-left: 1.1rem;
}

.found h3 {
  margin: 1.25rem 0 0.5rem;
}
.found p {
  margin-top: 0.5rem;
}
.values {
  background: var(--card);
  border: 1px solid var(--edge);
  border-radius: 0.6rem;
  padding: 0.25rem 1rem;
}
.values div {
  display: grid;
  grid-template-columns: minmax(6rem, 12rem) 1fr;
  gap: 1rem;
  padding: 0.45rem 0;
}
.values div + div {
  border-top: 1px solid var(--edge);
}
.values dt {
  font-size: 0.875rem;
  unicode-bidi: isolate;
}
.values dd,
td {
  white-space: pre-wrap;
  unicode-bidi: isolate;
}
table {
  width: 100%;
  border-collapse: collapse;
  background: var(--card);
  border: 1px solid var(--edge);
  font-size: 0.9rem;
}
th,
td {
  text-align: left;
  vertical-align: top;
  padding: 0.45rem 0.75rem;
  border-top: 1px solid var(--edge);
}
th {
  color: var(--dim);
  font-size: 0.8rem;
  font-weight: 600;
  white-space: nowrap;
}
td .tag {
  white-space: nowrap;
}

.pair {
  display: grid;
  grid-template-columns: repeat(auto-fit, minmax(min(20rem, 100%), 1fr));
  gap: 1rem;
}
figure {
  background: var(--card);
  border: 1px solid var(--edge);
  border-radius: 0.6rem;
  padding: 0.9rem 1rem;
}
figure svg {
  display: block;
  width: 100%;
  height: 7rem;
  margin: 0.6rem 0 0.4rem;
  border-bottom: 1px solid var(--edge);
}
svg .fresh {
  fill: light-dark(#3f7ae0, #6f9ff5);
}
svg .cached {
  fill: light-dark(#b9cdf3, #34507f);
}
svg .output {
  fill: light-dark(#d97706, #f2a94b);
}
svg .area {
  fill: light-dark(#dfe9fb, #22314b);
}
svg .line {
  fill: none;
  stroke: light-dark(#3f7ae0, #6f9ff5);
  stroke-width: 2;
  vector-effect: non-scaling-stroke;
}
.key {
  color: var(--dim);
  font-size: 0.8rem;
}
.key span {
  display: inline-block;
  width: 0.7em;
  height: 0.7em;
  border-radius: 2px;
  margin-left: 0.5em;
}
.key span:first-child {
  margin-left: 0;
}
.key .fresh {
  background: light-dark(#3f7ae0, #6f9ff5);
}
.key .cached {
  background: light-dark(#b9cdf3, #34507f);
}
.key .output {
  background: light-dark(#d97706, #f2a94b);
}

.tools {
  position: sticky;
  top: 0;
  z-index: 2;
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: 0.5rem 0.75rem;
  margin: 2rem -1rem 0;
  padding: 0.6rem 1rem;
  background: var(--ground);
  border-bottom: 1px solid var(--edge);
  font-size: 0.875rem;
}
.tools input[type="search"] {
  flex: 1 1 12rem;
  min-width: 0;
}
.tools .keys {
  flex-basis: 100%;
}
.tools .keys label {
  margin-right: 0.4rem;
}
.tools label {
  display: inline-flex;
  gap: 0.35rem;
  align-items: center;
}
kbd {
  font: inherit;
  font-size: 0.8rem;
  border: 1px solid var(--edge);
  border-radius: 0.25rem;
  padding: 0 0.3rem;
  background: var(--card);
}
::highlight(found) {
  background: var(--found);
  color: var(--ink);
}

.story h2 {
  scroll-margin-top: 7rem;
}
.turn {
  content-visibility: auto;
  contain-intrinsic-size: auto 12rem;
  padding: 0.25rem 0 1rem;
  scroll-margin-top: 7rem;
}
.turn > header {
  display: flex;
  flex-wrap: wrap;
  gap: 0 0.75rem;
  align-items: baseline;
  padding: 0.5rem 0;
}
.turn h3 {
  scroll-margin-top: 7rem;
}
.turn h3 a {
  color: inherit;
  text-decoration: none;
}
.turn h3 a:hover {
  text-decoration: underline;
}
.row {
  background: var(--card);
  border: 1px solid var(--edge);
  border-radius: 0.5rem;
  margin-top: 0.4rem;
  scroll-margin: 7rem 0 2rem;
}
.many > .row {
  content-visibility: auto;
  contain-intrinsic-size: auto 2.6rem;
}
.row.note {
  padding: 0.5rem 0.75rem;
}
.row.note:focus {
  outline: 3px solid var(--accent);
  outline-offset: -3px;
}
.row summary {
  display: flex;
  gap: 0.6rem;
  align-items: baseline;
  padding: 0.5rem 0.75rem;
  cursor: pointer;
  list-style: none;
  border-radius: 0.5rem;
}
.row summary::-webkit-details-marker {
  display: none;
}
.row summary::before {
  content: "\u25B8";
  color: var(--dim);
  width: 0.8em;
  flex: none;
}
.row[open] > summary::before {
  content: "\u25BE";
}
.row summary:hover {
  background: var(--sunken);
}
.row summary:focus-visible {
  outline-offset: -3px;
}
.row .name {
  flex: none;
  max-width: 40%;
  unicode-bidi: isolate;
}
.row .target {
  flex: 1 1 auto;
  min-width: 0;
  overflow: hidden;
  text-overflow: ellipsis;
  white-space: nowrap;
  unicode-bidi: isolate;
  color: var(--dim);
}
.row[open] > summary .preview {
  display: none;
}
.row .time {
  flex: none;
  font-variant-numeric: tabular-nums;
}
.row .body {
  padding: 0 0.75rem 0.75rem;
}
.note .text {
  white-space: pre-wrap;
  unicode-bidi: isolate;
}
pre {
  margin: 0;
  padding: 0.6rem 0.75rem;
  background: var(--sunken);
  border-radius: 0.4rem;
  white-space: pre-wrap;
  unicode-bidi: isolate;
  tab-size: 4;
}
.argument {
  margin-top: 0.4rem;
}
.argument .key {
  display: block;
  margin-bottom: 0.15rem;
  unicode-bidi: isolate;
}
.tag {
  --tone: var(--dim);
  flex: none;
  color: var(--tone);
  border: 1px solid currentColor;
  border-radius: 1rem;
  padding: 0 0.55rem;
  font-size: 0.75rem;
  line-height: 1.5;
}
.tag.ok,
.tag.accepted {
  --tone: var(--good);
}
.tag.error,
.tag.rejected {
  --tone: var(--bad);
}
.tag.warning,
.tag.open {
  --tone: var(--odd);
}
.tag.accepted,
.tag.rejected {
  font-weight: 600;
}
#nothing {
  padding: 2rem 0;
  text-align: center;
  color: var(--dim);
}
footer {
  margin-top: 2.5rem;
  border-top: 1px solid var(--edge);
  padding-top: 1rem;
}

@media (max-width: 40rem) {
  body {
    padding: 0 0.75rem 2rem;
  }
  .verdict {
    padding: 1rem;
  }
  h1 {
    font-size: 1.25rem;
  }
  .tools {
    margin-inline: -0.75rem;
    padding-inline: 0.75rem;
  }
  .tools .keys {
    display: none;
  }
  .values div {
    grid-template-columns: 1fr;
    gap: 0;
  }
  thead {
    position: absolute;
    left: -100vw;
  }
  tr,
  td {
    display: block;
  }
  tbody tr {
    padding: 0.35rem 0;
  }
  tbody tr + tr {
    border-top: 1px solid var(--edge);
  }
  td {
    border: 0;
    padding: 0.15rem 0.75rem;
  }
  td:empty {
    display: none;
  }
  td::before {
    content: attr(data-name) " ";
    color: var(--dim);
    font-size: 0.8rem;
  }
  .row summary {
    flex-wrap: wrap;
    gap: 0.2rem 0.5rem;
  }
  .row .name {
    max-width: none;
  }
  .row .time {
    margin-left: auto;
  }
  .row .target {
    order: 5;
    flex-basis: 100%;
    padding-left: 1.3em;
  }
  .row .target:empty {
    display: none;
  }
}
@media (prefers-reduced-motion: no-preference) {
  .row summary,
  button {
    transition:
      background 0.12s,
      border-color 0.12s;
  }
}
@media (forced-colors: active) {
  svg .fresh,
  svg .output {
    fill: CanvasText;
  }
}
@media print {
  body {
    max-width: none;
    background: none;
    font-size: 10pt;
  }
  .tools,
  .skip,
  #theme {
    display: none !important;
  }
  .turn,
  .row {
    content-visibility: visible;
  }
  .row summary {
    break-after: avoid;
  }
  .row .target {
    white-space: normal;
  }
}
`,SCRIPT=`// The page's own script: search, keys, folding and the theme. It makes no markup, and asks nobody anything.

(() => {
  const at = (id) => document.getElementById(id);
  const root = document.documentElement;
  const search = at('search');
  const problems = at('problems');
  const rows = [...document.querySelectorAll('[data-row]')];
  const turns = [...document.querySelectorAll('.turn')];
  const texts = new Map();
  const textOf = (row) => {
    if (!texts.has(row)) texts.set(row, row.textContent.toLowerCase());
    return texts.get(row);
  };

  const filter = () => {
    const words = search.value
      .toLowerCase()
      .split(/\\s+/)
      .filter((word) => word !== '');
    const narrowed = words.length > 0 || problems.checked;
    let shown = 0;
    for (const row of rows) {
      const wanted =
        (!problems.checked || row.hasAttribute('data-problem')) &&
        words.every((word) => textOf(row).includes(word));
      row.hidden = !wanted;
      if (wanted) shown += 1;
    }
    for (const turn of turns) {
      turn.hidden = narrowed && turn.querySelector('[data-row]:not([hidden])') === null;
    }
    at('nothing').hidden = !narrowed || shown > 0;
    at('count').value = narrowed ? shown + ' of ' + rows.length + ' shown' : '';
    highlight(words);
  };

  // Drawn by the browser over the text: the document stays as it is.
  const highlight = (words) => {
    if (!('highlights' in CSS)) return;
    CSS.highlights.delete('found');
    if (words.length === 0) return;
    const found = new Highlight();
    for (const row of rows) {
      if (row.hidden || found.size > 500) continue;
      const walker = document.createTreeWalker(row, NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node !== null && found.size <= 500; node = walker.nextNode()) {
        const text = node.data.toLowerCase();
        // Of a few letters the lower case is longer: places would not be those of the text.
        if (text.length !== node.data.length) continue;
        for (const word of words) {
          for (
            let i = text.indexOf(word);
            i !== -1 && found.size <= 500;
            i = text.indexOf(word, i + word.length)
          ) {
            const range = new Range();
            range.setStart(node, i);
            range.setEnd(node, i + word.length);
            found.add(range);
          }
        }
      }
    }
    CSS.highlights.set('found', found);
  };

  let waiting = 0;
  const soon = () => {
    clearTimeout(waiting);
    waiting = setTimeout(filter, rows.length > 2000 ? 150 : 0);
  };
  search.addEventListener('input', soon);
  problems.addEventListener('change', filter);
  at('tools').addEventListener('submit', (event) => event.preventDefault());

  const fold = (open) => {
    for (const row of rows) if (row.localName === 'details' && !row.hidden) row.open = open;
  };
  at('unfold').addEventListener('click', () => fold(true));
  at('fold').addEventListener('click', () => fold(false));

  const step = (by) => {
    const shown = rows.filter((row) => !row.hidden);
    if (shown.length === 0) return false;
    const now = document.activeElement.closest('[data-row]');
    let next = shown.indexOf(now) + by;
    if (now === null) {
      // From where the reader looks.
      const first = shown.findIndex((row) => row.getBoundingClientRect().top >= at('tools').offsetHeight);
      next = first === -1 ? shown.length - 1 : by > 0 ? first : first - 1;
    }
    const row = shown[Math.min(Math.max(next, 0), shown.length - 1)];
    (row.querySelector('summary') ?? row).focus();
    return true;
  };
  const STEPS = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 };

  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const { target, key } = event;
    if (key === 'Escape' && (target === search || search.value !== '' || problems.checked)) {
      search.value = '';
      problems.checked = false;
      search.blur();
      filter();
      return;
    }
    // Whoever speaks to the machine, or hits keys by chance, can turn single letters off (WCAG 2.2, 2.1.4).
    if (target === search || (key.length === 1 && !at('letters').checked)) return;
    if (key === '/') {
      event.preventDefault();
      search.focus();
      search.select();
      return;
    }
    if (!Object.hasOwn(STEPS, key)) return;
    // Arrows scroll, unless a row is what they start from.
    if (key.startsWith('Arrow') && !target.matches('[data-row], [data-row] > summary')) return;
    if (step(STEPS[key])) event.preventDefault();
  });

  const THEMES = ['system', 'light', 'dark'];
  at('theme').addEventListener('click', () => {
    const next = THEMES[(THEMES.indexOf(root.dataset.theme ?? 'system') + 1) % THEMES.length];
    root.dataset.theme = next;
    at('theme').textContent = 'Theme: ' + next;
  });

  at('tools').hidden = false;
  at('theme').hidden = false;
  filter();
})();
`;function reportPage({story,envelope,showing,withPayload,notes}){const ending=endingOf(story,envelope,showing,withPayload),remarks=[...notes,...remarksOn(story,envelope,showing,withPayload)];return(0,visible.qy)(_a||(_a=__template([`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="`,`">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>`,` \xB7 structured-agent</title>
<style>`,`</style>
</head>
<body>
<a class="skip" href="#story">Skip to what happened</a>
<header class="page"><p><b>structured-agent</b> <span class="dim">report of a run</span></p><button type="button" id="theme" hidden>Theme: system</button></header>
<main>
`,`
`,`
`,`
`,`
`,`
`,`
</main>
<footer class="dim"><p>Made from the redacted transcript of the run, in which arguments of structured_output are not recorded`,`. Invisible characters are shown by their codes. What the model and the repository said is text, and nobody vouches for it.</p></footer>
<script>`,`<\/script>
</body>
</html>
`])),policy(),titleOf(ending),(0,visible.Bj)(STYLE),verdictSection(ending),remarks.length===0?null:(0,visible.qy)`<aside class="remarks" aria-label="About this report"><ul>${remarks.map(each=>(0,visible.qy)`<li>${each}</li>`)}</ul></aside>`,ending.payload===null?null:payloadSection(ending.payload,ending.evidence,showing),charts(story.turns),tools(),storySection(story.turns),ending.payload===null?"":", and from its result envelope, which holds the accepted payload",(0,visible.Bj)(SCRIPT)).html}function tools(){return(0,visible.qy)`<form class="tools" id="tools" role="search" hidden>
<label for="search">Search</label><input id="search" type="search" autocomplete="off" spellcheck="false" aria-keyshortcuts="/" aria-describedby="keys">
<label><input id="problems" type="checkbox"> Only problems</label>
<button type="button" id="unfold">Unfold all</button><button type="button" id="fold">Fold all</button>
<output id="count" for="search problems" aria-live="polite"></output>
<p class="dim keys"><label><input id="letters" type="checkbox" checked> Keys</label> <span id="keys"><kbd>/</kbd> search · <kbd>j</kbd> <kbd>k</kbd> next, previous · <kbd>Enter</kbd> fold · <kbd>Esc</kbd> clear</span></p>
</form>`}function remarksOn(story,envelope,showing,withPayload){const{unknown,left,finished}=story,conclusion=finished===null?null:(0,json_fields.yR)(finished,"conclusion"),isForeign=envelope!==null&&contradicts(story,envelope);return[...envelope===null?[]:weaknessesOf(envelope).map(text=>showing.text(text).text),...unknown===0?[]:[`${(0,messages.hS)(unknown,"line")} of the transcript ${unknown===1?"is":"are"} no event, and left out.`],...left===0?[]:[`${(0,messages.hS)(left,"more entry").replace("entrys","entries")}: see the transcript itself.`],...finished===null&&envelope===null?["The transcript ends before the run did: the verdict is not in it."]:[],...isForeign?[`The result file tells of another ending than the transcript. Do they belong to the same run?${withPayload?" Its payload is not shown.":""}`]:[],...withPayload&&envelope===null&&(conclusion==="success"||conclusion==="failure")?["What was found is in the result file, which was not given: --result FILE adds it to this page."]:[]]}function weaknessesOf(envelope){const evidence=(0,json_fields.Ag)(envelope,"evidence"),[context,toolCalls]=[(0,json_fields.yR)(evidence,"context"),(0,json_fields._0)(evidence,"tool_calls")];if(toolCalls===null)return[];const known=CONTEXTS.find(each=>each===context)??"none",hasPayload=Object.hasOwn(envelope,"structured_output"),subject=(0,json_fields.Z)(envelope,"subject"),event=subject===null?null:(0,json_fields.yR)(subject,"event")??"";return(0,verdict_text.v5)({context:known,toolCalls,coverage:(0,coverage.tn)(evidence)??null},hasPayload,event===null?null:{event})}const CONTEXTS=["complete","truncated","missing","none"];function policy(){const sources=text=>`'sha256-${(0,external_node_crypto_.createHash)("sha256").update(text).digest("base64")}'`;return`default-src 'none'; script-src ${sources(SCRIPT)}; style-src ${sources(STYLE)}; base-uri 'none'; form-action 'none'`}}),1098:((__unused_webpack___webpack_module__,__webpack_exports__,__webpack_require__)=>{__webpack_require__.d(__webpack_exports__,{At:()=>readEvidence,_B:()=>claimOf,du:()=>viewOf});var node_util__WEBPACK_IMPORTED_MODULE_0__=__webpack_require__(7975),_text_coverage_js__WEBPACK_IMPORTED_MODULE_1__=__webpack_require__(1447),_text_json_js__WEBPACK_IMPORTED_MODULE_2__=__webpack_require__(8794),_text_json_fields_js__WEBPACK_IMPORTED_MODULE_3__=__webpack_require__(8141),_text_limits_js__WEBPACK_IMPORTED_MODULE_4__=__webpack_require__(6473),_text_usage_js__WEBPACK_IMPORTED_MODULE_5__=__webpack_require__(9662);const CONCLUSIONS={success:!0,failure:!0,inconclusive:!0,skipped:!0},REASONS={accepted:!0,gate_not_met:!0,plain_text:!0,refusal:!0,provider_auth:!0,provider_rate_limit:!0,provider_overloaded:!0,provider_error:!0,context_overflow:!0,replay_mismatch:!0,secret_in_payload:!0,tampered:!0,internal:!0,sandbox:!0,config:!0,max_turns:!0,timeout:!0,max_tokens:!0,max_cost:!0,cancelled:!0,missing_key:!0,undecided:!0,unread:!0,ungrounded:!0},GATE_STATUSES={met:!0,not_met:!0,none:!0},CONTEXT_STATUSES={complete:!0,truncated:!0,missing:!0,none:!0},GROUNDING_STATUSES={exact:!0,moved:!0,unproven:!0,ambiguous:!0,ungrounded:!0,refuted:!0},GROUNDING_LABELS={in_change:!0,near:!0,same_file:!0,elsewhere:!0};function viewOf(file,envelope){const{conclusion,reason}=envelope;if(!isWord(CONCLUSIONS,conclusion)||!isWord(REASONS,reason))return null;const gate=readGate(envelope),evidence=readEvidence(envelope);return gate===void 0||evidence===void 0?null:{file,leg:(0,_text_json_fields_js__WEBPACK_IMPORTED_MODULE_3__.yR)(envelope,"leg"),vote:(0,_text_json_fields_js__WEBPACK_IMPORTED_MODULE_3__.yR)(envelope,"vote"),conclusion,reason,payload:(0,_text_json_fields_js__WEBPACK_IMPORTED_MODULE_3__.Z)(envelope,"structured_output"),gate,turns:(0,_text_json_fields_js__WEBPACK_IMPORTED_MODULE_3__._0)(envelope,"num_turns")??0,rejections:(0,_text_json_fields_js__WEBPACK_IMPORTED_MODULE_3__._0)(envelope,"rejections")??0,usage:(0,_text_json_fields_js__WEBPACK_IMPORTED_MODULE_3__.k9)(envelope,"usage")??_text_usage_js__WEBPACK_IMPORTED_MODULE_5__.yJ,costUsd:(0,_text_json_fields_js__WEBPACK_IMPORTED_MODULE_3__._0)(envelope,"total_cost_usd"),model:(0,_text_json_fields_js__WEBPACK_IMPORTED_MODULE_3__.yR)(envelope,"model")??"",replayed:(0,_text_json_fields_js__WEBPACK_IMPORTED_MODULE_3__.fG)(envelope,"replayed"),sessionId:(0,_text_json_fields_js__WEBPACK_IMPORTED_MODULE_3__.yR)(envelope,"session_id")??"",error:(0,_text_json_fields_js__WEBPACK_IMPORTED_MODULE_3__.yR)(envelope,"error"),subject:readSubject(envelope),policy:readPolicy((0,_text_json_fields_js__WEBPACK_IMPORTED_MODULE_3__.Ag)(envelope,"judge")),reuse:readReuse(envelope),evidence,contradiction:findContradiction(envelope,gate)??findMiscount(evidence),merged:(0,_text_json_fields_js__WEBPACK_IMPORTED_MODULE_3__.Z)(envelope,"merged")!==null}}const REPEATED=[["structured_output","structured_result"],["num_turns","turns"]];function findContradiction(envelope,gate){const at=name=>Object.hasOwn(envelope,name)?envelope[name]??null:null;for(const[name,again]of REPEATED)if(Object.hasOwn(envelope,again)&&!(0,node_util__WEBPACK_IMPORTED_MODULE_0__.isDeepStrictEqual)(at(name),at(again)))return`${name} and ${again}`;const usage=(0,_text_json_fields_js__WEBPACK_IMPORTED_MODULE_3__.Ag)(envelope,"usage");for(const name of["input_tokens","output_tokens"]){const total=`total_${name}`;if(Object.hasOwn(envelope,total)&&usage[name]!==at(total))return`usage and ${total}`}if(gate?.status!=="not_met"&&(gate?.issues??[]).length>0)return"the status of gate and its issues";const[result,payload]=[at("result"),at("structured_output")];if(payload===null)return result===at("error")?null:"result and error";const parsed=(0,_text_json_js__WEBPACK_IMPORTED_MODULE_2__.RJ)(String(result));return parsed.ok&&(0,node_util__WEBPACK_IMPORTED_MODULE_0__.isDeepStrictEqual)(parsed.value,payload)?null:"result and structured_output"}const MAX_CLAIMED=500;function claimOf(envelope){const[leg,vote]=[(0,_text_json_fields_js__WEBPACK_IMPORTED_MODULE_3__.yR)(envelope,"leg"),(0,_text_json_fields_js__WEBPACK_IMPORTED_MODULE_3__.yR)(envelope,"vote")],subject=(0,_text_json_fields_js__WEBPACK_IMPORTED_MODULE_3__.Ag)(envelope,"subject"),[run,attempt]=[(0,_text_json_fields_js__WEBPACK_IMPORTED_MODULE_3__.yR)(subject,"run_id"),(0,_text_json_fields_js__WEBPACK_IMPORTED_MODULE_3__._0)(subject,"run_attempt")];return leg===null||run===null||attempt===null||leg.length+(vote??"").length+run.length>MAX_CLAIMED?null:{leg,vote,run,attempt}}function readGate(envelope){const gate=(0,_text_json_fields_js__WEBPACK_IMPORTED_MODULE_3__.Z)(envelope,"gate");if(gate===null)return null;const{status,issues}=gate;if(!isWord(GATE_STATUSES,status)||!(0,_text_json_js__WEBPACK_IMPORTED_MODULE_2__.cy)(issues))return;const text=(issue,name)=>(0,_text_json_fields_js__WEBPACK_IMPORTED_MODULE_3__.yR)(issue,name)??"";return{status,issues:issues.filter(_text_json_js__WEBPACK_IMPORTED_MODULE_2__.Gv).map(issue=>({path:text(issue,"path"),keyword:text(issue,"keyword"),message:text(issue,"message")}))}}function readEvidence(envelope){const evidence=(0,_text_json_fields_js__WEBPACK_IMPORTED_MODULE_3__.Z)(envelope,"evidence");if(evidence===null)return null;const{context,findings}=evidence;if(!isWord(CONTEXT_STATUSES,context)||!(0,_text_json_js__WEBPACK_IMPORTED_MODULE_2__.cy)(findings))return;const coverage=(0,_text_coverage_js__WEBPACK_IMPORTED_MODULE_1__.tn)(evidence),grounding=readGrounding(evidence);if(!(coverage===void 0&&(0,_text_json_fields_js__WEBPACK_IMPORTED_MODULE_3__.Z)(evidence,"coverage")!==null)&&!(grounding===void 0&&(0,_text_json_fields_js__WEBPACK_IMPORTED_MODULE_3__.Z)(evidence,"grounding")!==null))return{context,toolCalls:(0,_text_json_fields_js__WEBPACK_IMPORTED_MODULE_3__._0)(evidence,"tool_calls")??0,...coverage===void 0?{}:{coverage},...grounding===void 0?{}:{grounding},findings:findings.map(each=>readFinding((0,_text_json_js__WEBPACK_IMPORTED_MODULE_2__.Gv)(each)?each:{},grounding!==void 0))}}function readGrounding(evidence){const counts=(0,_text_json_fields_js__WEBPACK_IMPORTED_MODULE_3__.Z)(evidence,"grounding");if(counts===null)return;const read=[...Object.keys(GROUNDING_STATUSES),"corrected_lines"].map(name=>[name,(0,_text_json_fields_js__WEBPACK_IMPORTED_MODULE_3__._0)(counts,name)]);if(!read.some(([,count])=>!Number.isInteger(count)))return Object.fromEntries(read)}function readFinding(finding,isChecked){const path=pathInside((0,_text_json_fields_js__WEBPACK_IMPORTED_MODULE_3__.yR)(finding,"path"));if(!isChecked)return{path};const[grounding,label]=[(0,_text_json_fields_js__WEBPACK_IMPORTED_MODULE_3__.yR)(finding,"grounding"),(0,_text_json_fields_js__WEBPACK_IMPORTED_MODULE_3__.yR)(finding,"label")];return{path,line:readLine(finding,"line"),lineWas:readLine(finding,"line_was"),grounding:isWord(GROUNDING_STATUSES,grounding)?grounding:null,label:isWord(GROUNDING_LABELS,label)?label:null}}function readLine(finding,name){const line=(0,_text_json_fields_js__WEBPACK_IMPORTED_MODULE_3__._0)(finding,name);return line!==null&&Number.isInteger(line)&&line>=1&&line<=_text_limits_js__WEBPACK_IMPORTED_MODULE_4__.mc.findingLine?line:null}function findMiscount(evidence){const coverage=evidence?.coverage??null;return coverage===null||(0,_text_coverage_js__WEBPACK_IMPORTED_MODULE_1__.Gb)(coverage)?null:"the counts of evidence and coverage"}function pathInside(path){if(path===null||/[\p{Cc}\\]/u.test(path))return null;const isOdd=part=>["",".","..",".git"].includes(part.toLowerCase());return path.split("/").some(isOdd)?null:path}function readSubject(envelope){const subject=(0,_text_json_fields_js__WEBPACK_IMPORTED_MODULE_3__.Z)(envelope,"subject");if(subject===null)return null;const text=name=>(0,_text_json_fields_js__WEBPACK_IMPORTED_MODULE_3__.yR)(subject,name)??"";return{repository:text("repository"),sha:text("sha"),ref:text("ref"),event:text("event"),pull_request:(0,_text_json_fields_js__WEBPACK_IMPORTED_MODULE_3__._0)(subject,"pull_request"),run_id:text("run_id"),run_attempt:(0,_text_json_fields_js__WEBPACK_IMPORTED_MODULE_3__._0)(subject,"run_attempt")??0,...Object.hasOwn(subject,"checked_out")?{checked_out:(0,_text_json_fields_js__WEBPACK_IMPORTED_MODULE_3__.yR)(subject,"checked_out")}:{}}}function readPolicy(policy){return{schema_sha256:(0,_text_json_fields_js__WEBPACK_IMPORTED_MODULE_3__.yR)(policy,"schema_sha256"),gate_sha256:(0,_text_json_fields_js__WEBPACK_IMPORTED_MODULE_3__.yR)(policy,"gate_sha256"),prompt_sha256:(0,_text_json_fields_js__WEBPACK_IMPORTED_MODULE_3__.yR)(policy,"prompt_sha256"),version:(0,_text_json_fields_js__WEBPACK_IMPORTED_MODULE_3__.yR)(policy,"version")??""}}function readReuse(envelope){const reuse=(0,_text_json_fields_js__WEBPACK_IMPORTED_MODULE_3__.Z)(envelope,"reuse");if(reuse===null)return null;const from=(0,_text_json_fields_js__WEBPACK_IMPORTED_MODULE_3__.Z)(reuse,"from");return{key:(0,_text_json_fields_js__WEBPACK_IMPORTED_MODULE_3__.yR)(reuse,"key")??"",tree:(0,_text_json_fields_js__WEBPACK_IMPORTED_MODULE_3__.yR)(reuse,"tree")??"",change:(0,_text_json_fields_js__WEBPACK_IMPORTED_MODULE_3__.yR)(reuse,"change"),from:from&&{run_id:(0,_text_json_fields_js__WEBPACK_IMPORTED_MODULE_3__.yR)(from,"run_id")??"",run_attempt:(0,_text_json_fields_js__WEBPACK_IMPORTED_MODULE_3__._0)(from,"run_attempt")??0,session_id:(0,_text_json_fields_js__WEBPACK_IMPORTED_MODULE_3__.yR)(from,"session_id")??""}}}function isWord(words,value){return typeof value=="string"&&Object.hasOwn(words,value)}})};export{id,ids,modules};
